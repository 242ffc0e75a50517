/** The part of pg 8 that is used here; the package brings no types of its own. */

declare module 'pg' {
  export interface PoolConfig {
    readonly connectionString?: string;
    readonly max?: number;
    readonly connectionTimeoutMillis?: number;
    readonly query_timeout?: number;
    readonly idleTimeoutMillis?: number;
    readonly keepAlive?: boolean;
    readonly allowExitOnIdle?: boolean;
  }
  export interface Pool {
    query(sql: string, values?: readonly unknown[]): Promise<{ readonly rows: unknown[] }>;
    on(event: 'error', listener: (error: Error) => void): this;
    end(): Promise<void>;
  }
  const pg: { readonly Pool: new (config: PoolConfig) => Pool };
  // biome-ignore lint/style/noDefaultExport: this describes a package as it is.
  export default pg;
}

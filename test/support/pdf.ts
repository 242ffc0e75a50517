/** PDFs small enough to be read here. */

export interface PdfOptions {
  readonly pages?: number;
  /** Bytes of a comment that only makes it larger. */
  readonly padding?: number;
  /** Needs a password that nobody has. */
  readonly isLocked?: boolean;
}

/** A PDF whose pages say something. */
export function pdfThatSays(text: string, options: PdfOptions = {}): Buffer {
  const { pages = 1, padding = 0, isLocked = false } = options;
  const stream = `BT /F1 24 Tf 72 720 Td (${text}) Tj ET`;
  const kids = Array.from({ length: pages }, (_, index) => `${index + 5} 0 R`).join(' ');
  const page =
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 3 0 R /Resources << /Font << /F1 4 0 R >> >> >>';
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`,
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...Array.from({ length: pages }, () => page),
  ];
  let file = '%PDF-1.4\n';
  if (padding > 0) file += `%${'x'.repeat(padding - 2)}\n`;
  const places = objects.map((object, index) => {
    const place = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const table = file.length;
  const size = objects.length + 1;
  file += `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}`;
  file += `trailer\n<< /Size ${size} /Root 1 0 R ${isLocked ? lock : ''}>>\n`;
  file += `startxref\n${table}\n%%EOF`;
  return Buffer.from(file, 'latin1');
}

/** Keys that fit no password at all. */
const lock = `/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> >> /ID [<${'43'.repeat(16)}> <${'43'.repeat(16)}>] `;

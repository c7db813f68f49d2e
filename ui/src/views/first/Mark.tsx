/** The product's mark: a run as a thread. */
export function Mark({ size = 24 }: { size?: number }) {
  const length = `${size / 16}rem`;
  return (
    <svg viewBox="0 0 20 20" style={{ width: length, height: length }} aria-hidden="true">
      <rect width="20" height="20" rx="5" fill="var(--ink-fill)" />
      <circle cx="5.2" cy="10" r="1.9" fill="var(--ink-on)" />
      <path d="M7.1 10h1.4" stroke="var(--ink-on)" strokeWidth="1.6" />
      <path d="M9.4 10h1.2M11.6 10h1.2" stroke="var(--ink-on)" strokeWidth="1.6" strokeOpacity=".55" />
      <circle cx="14.8" cy="10" r="1.9" fill="none" stroke="var(--ink-on)" strokeWidth="1.5" />
    </svg>
  );
}

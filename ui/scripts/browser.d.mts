export const BROWSER: string;
export const FLAGS: string[];

// The page's own declarations (contract.ts) and those made from the backend (generated.ts) say the same, or this file does not compile: every
// command of the page is there, takes what the page sends, and answers what the page reads.
import type { Commands as Page } from "./contract";
import type { Commands as Backend } from "./generated";

type Missing = Exclude<keyof Page, keyof Backend>;
type Common = keyof Page & keyof Backend;
/** Commands whose request the backend does not take as the page sends it. */
type Refused = { [N in Common]: Page[N][0] extends Backend[N][0] ? never : N }[Common];
/** Commands whose answer the page does not read as the backend sends it. */
type Misread = { [N in Common]: Backend[N][1] extends Page[N][1] ? never : N }[Common];

type None<T extends never> = T;
export type Agreement = [None<Missing>, None<Refused>, None<Misread>];

// The address: view, filters, tab and selection live in the part after `#`, so that back, forward and "copy link" work.
import {
  type AnchorHTMLAttributes,
  createContext,
  type MouseEvent,
  type ReactNode,
  type Ref,
  useCallback,
  useContext,
  useMemo,
  useSyncExternalStore,
} from "react";

/** An address taken apart: `#/run/20261130-zz1c/logs?line=3` has the segments `run`, `20261130-zz1c`, `logs`. */
export interface Address {
  /** Without the `#`, always with a leading slash. */
  full: string;
  path: string;
  segments: string[];
  search: URLSearchParams;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export function parseAddress(hash: string): Address {
  const full = hash.replace(/^#/, "") || "/";
  const query = full.indexOf("?");
  const path = query < 0 ? full : full.slice(0, query);
  return {
    full,
    path,
    segments: path.split("/").filter(Boolean).map(decode),
    search: new URLSearchParams(query < 0 ? "" : full.slice(query + 1)),
  };
}

/** Builds an address: `address(["run", id, "logs"], { line: 3 })`. Empty values are left out. */
export function address(segments: readonly string[], search: Record<string, string | number | undefined | null> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  const text = query.toString();
  return `/${segments.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** The address of a run, at a tab when one is given. */
export const runAddress = (run: string, tab?: string): string => address(tab ? ["run", run, tab] : ["run", run]);
export const projectAddress = (project: string, tab?: string): string => address(tab ? ["project", project, tab] : ["project", project]);

const watchers = new Set<() => void>();
const notify = () => {
  for (const watcher of watchers) watcher();
};
window.addEventListener("hashchange", notify);
window.addEventListener("popstate", notify);

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Each step of the history has a name of its own, so that a view finds again what it left there. */
interface Step {
  id: string;
}

function newStep(): Step {
  return { id: Math.random().toString(36).slice(2) };
}

/** The name of the present step. Going back brings the name of then; following a link makes a new one. */
export function stepId(): string {
  const step = history.state as Step | null;
  if (step?.id) return step.id;
  const made = newStep();
  history.replaceState(made, "");
  return made.id;
}

/** Goes to an address. `replace` leaves no step for "back", for changes within a view. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  const hash = `#${to}`;
  if (hash === location.hash) return;
  if (options.replace) history.replaceState(history.state ?? newStep(), "", hash);
  else history.pushState(newStep(), "", hash);
  notify();
}

const snapshot = () => location.hash;

const Context = createContext<Address | null>(null);

export function RouterProvider({ children }: { children: ReactNode }) {
  const hash = useSyncExternalStore(watch, snapshot);
  const value = useMemo(() => parseAddress(hash), [hash]);
  return <Context value={value}>{children}</Context>;
}

export function useAddress(): Address {
  const value = useContext(Context);
  if (!value) throw new Error("useAddress outside of a RouterProvider");
  return value;
}

/** Changes parameters of the address as it is now; null takes one away. Several changes in a row add up. */
export function setParams(changes: Record<string, string | number | null | undefined>, options: { replace?: boolean } = { replace: true }): void {
  const now = parseAddress(location.hash);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") now.search.delete(name);
    else now.search.set(name, String(value));
  }
  const text = now.search.toString();
  navigate(text ? `${now.path}?${text}` : now.path, options);
}

/** One parameter of the address as a state. */
export function useParam(name: string): [string | null, (value: string | null, options?: { replace?: boolean }) => void] {
  const { search } = useAddress();
  const set = useCallback((value: string | null, options?: { replace?: boolean }) => setParams({ [name]: value }, options), [name]);
  return [search.get(name), set];
}

export interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> {
  to: string;
  replace?: boolean;
  ref?: Ref<HTMLAnchorElement>;
}

/** A link within the window. */
export function Link({ to, replace, onClick, children, ref, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      ref={ref}
      href={`#${to}`}
      onClick={(event: MouseEvent<HTMLAnchorElement>) => {
        onClick?.(event);
        if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(to, { replace });
      }}
    >
      {children}
    </a>
  );
}

// Keeps a broken view from taking the window down.
import { Component, type ErrorInfo, type ReactNode } from "react";
import { ErrorState } from "../kit/States";

interface Props {
  /** A change of it tries again: the address, the tab. */
  resetKey: string;
  children: ReactNode;
}

interface State {
  error: Error | null;
  key: string;
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, key: this.props.resetKey };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.resetKey === state.key ? null : { error: null, key: props.resetKey };
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    console.error("A view ended with an error.", error, info.componentStack);
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="app-boundary">
        <ErrorState error={{ code: "internal", message: error.message, detail: error.stack }} onRetry={() => this.setState({ error: null })} />
      </div>
    );
  }
}

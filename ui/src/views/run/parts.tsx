// Parts every tab of a run has: what stands there while nothing is known, and a fence around each tab.
import { Component, type ReactNode } from "react";
import { toApiError } from "../../host";
import { useI18n } from "../../i18n";
import { Bone, Empty, ErrorState, Late } from "../../kit/States";

/** Grey bars where lines of text will be. */
export function Bones({ lines = 6 }: { lines?: number }) {
  const { t } = useI18n();
  return (
    <Late>
      <div className="run-bones" role="status" aria-label={t("common.loading")}>
        {Array.from({ length: lines }, (_, index) => (
          <Bone key={index} width={`${12 + ((index * 11) % 17)}rem`} />
        ))}
      </div>
    </Late>
  );
}

interface FenceState {
  error: unknown;
}

class Fence extends Component<{ children: ReactNode; shown: (error: unknown, again: () => void) => ReactNode }, FenceState> {
  override state: FenceState = { error: undefined };
  static getDerivedStateFromError(error: unknown): FenceState {
    return { error };
  }
  override render() {
    return this.state.error === undefined ? this.props.children : this.props.shown(this.state.error, () => this.setState({ error: undefined }));
  }
}

/** One broken tab never takes the window down. */
export function Boundary({ children }: { children: ReactNode }) {
  return (
    <Fence
      shown={(error, again) => (
        <div className="run-padded">
          <ErrorState error={toApiError(error)} onRetry={again} />
        </div>
      )}
    >
      {children}
    </Fence>
  );
}

/** Nothing here, in one sentence, with a next step if there is one. */
export function Nothing({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <div className="run-padded">
      <Empty title={text}>{children}</Empty>
    </div>
  );
}

// Written soon.
import type { RunFormRequest } from "../../app/overlays";

export interface RunFormProps {
  open: boolean;
  request: RunFormRequest;
  onClose: () => void;
}

export default function RunForm({ open: _ }: RunFormProps) {
  return null;
}

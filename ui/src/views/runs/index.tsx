// Written soon.
export default function Runs() {
  return null;
}

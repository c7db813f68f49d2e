// Written soon.
export default function First() {
  return null;
}

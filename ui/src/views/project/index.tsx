// Written soon.
export default function Project() {
  return null;
}

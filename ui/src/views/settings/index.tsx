// Written soon.
export default function Settings() {
  return null;
}

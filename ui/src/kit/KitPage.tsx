// Written soon.
export default function KitPage() {
  return null;
}

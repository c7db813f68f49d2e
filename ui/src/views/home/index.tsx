// Written soon.
export default function Home() {
  return null;
}

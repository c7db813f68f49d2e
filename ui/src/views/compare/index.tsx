// Written soon.
export default function Compare() {
  return null;
}

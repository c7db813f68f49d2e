export const entrypoint = { title: "Error", description: "Always fails." };

export default async function (_input, flow) {
  flow.fail("This tool intentionally returns an error for testing");
}

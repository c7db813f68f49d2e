export const entrypoint = {
  title: "Weekly page",
  description: "Makes one page of a week's notes.",
  params: {
    week: { type: "string", required: true, title: "Week", description: "Any day of it" },
    words: { type: "integer", minimum: 10, maximum: 500, default: 100, title: "Words" },
    tone: {
      type: "string",
      title: "Tone",
      options: [
        { value: "plain", title: "Plain", description: "Facts first, no adjectives" },
        { value: "warm", title: "Warm", description: "A short greeting, then the facts" },
      ],
      default: "plain",
    },
  },
};

export default async function (input, flow) {
  flow.phase("Read");
  console.log("\u001b[32mread\u001b[0m the notes of " + input.week);
  console.warn("one note is empty");
  const days = await flow.step("Count", async () => [
    { day: "Monday", words: 120 },
    { day: "Tuesday", words: 95 },
    { day: "Wednesday", words: 143 },
  ]);
  flow.progress(1, 2, "read");
  flow.phase("Write");
  // What a run prints is text, whatever it looks like.
  console.log("<img src=x onerror=alert(1)> javascript:alert(1)");
  flow.files.create("page.md", "# Week of " + input.week + "\n\n- Monday was quiet\n- Tuesday was not\n");
  flow.progress(2, 2, "written");
  return { days, week: input.week, words: input.words, title: "The week of " + input.week };
}

const form = document.getElementById("login");
const problem = document.getElementById("problem");
const button = form.querySelector("button");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  button.disabled = true;
  try {
    const response = await fetch("/login", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Hart": "1" },
      body: JSON.stringify({ token: form.elements.token.value }),
    });
    if (response.ok) {
      // The hash names the chat; browsers keep it over the redirect that led here.
      location.replace(`/${location.hash}`);
      return;
    }
    const answer = await response.json().catch(() => ({}));
    problem.textContent = typeof answer.detail === "string" ? answer.detail : "That did not work.";
    form.elements.token.select();
  } catch {
    problem.textContent = "The server cannot be reached.";
  }
  button.disabled = false;
});

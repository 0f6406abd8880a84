package deploy

import (
	"os"
	"strings"
	"testing"
)

// TestOperatorsAreGivenWhatIsProven compares the files that the documentation gives with those of the sandbox's API server.
func TestOperatorsAreGivenWhatIsProven(t *testing.T) {
	text, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"authorization.yaml": Authorization, "nowhere.kubeconfig": NowhereKubeconfig} {
		if !strings.Contains(string(text), "```yaml\n"+string(file)+"```\n") {
			t.Errorf("docs/security.md does not have deploy/apiserver/%s as it is", name)
		}
	}
}

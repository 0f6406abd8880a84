package integration

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/test/sandboxtest"
)

// checked is what is read of a CheckReport.
type checked struct {
	Kind    string
	Summary struct{ Passed, Warnings, Failed, Skipped, Unknown int }
	Checks  []struct {
		ID, State, Detail string
		Findings          []struct{ Code, Severity, Message string }
	}
	Capabilities []capability
	Incomplete   []string
}

type capability struct {
	Feature        string
	Nodes, Unknown int
}

// suppressible checks that every agent that answers reports the suppression of best-effort pods, which simulated nodes have no kernel for; the
// stale one does not answer.
func suppressible(report *checked) error {
	for _, c := range report.Capabilities {
		if c.Feature == "BECPUSuppress" && c.Nodes >= nodes-1 && c.Unknown == c.Nodes {
			return nil
		}
	}
	return fmt.Errorf("capabilities %+v", report.Capabilities)
}

// state is that of one check, with the codes of what it found.
func (c *checked) state(id string) (string, []string) {
	for i := range c.Checks {
		if c.Checks[i].ID == id {
			var codes []string
			for _, f := range c.Checks[i].Findings {
				codes = append(codes, f.Code)
			}
			return c.Checks[i].State, codes
		}
	}
	return "", nil
}

func checkJSON(t *testing.T, args ...string) *checked {
	t.Helper()
	result := koordctl(t, 0, append([]string{"check", "-o", "json"}, args...)...)
	var out checked
	if err := json.Unmarshal([]byte(result.Stdout), &out); err != nil {
		t.Fatalf("%v\n%s", err, result.Stdout)
	}
	return &out
}

// stale is a node whose koordlet does not report, which the scenario of the sandbox has on purpose.
const stale = "sim-0013"

// TestCheckPassesOnTheSandbox: nothing is wrong but the node whose agent is silent, and nothing is unknown to an administrator.
func TestCheckPassesOnTheSandbox(t *testing.T) {
	awaitAdmission(t)
	sandboxtest.Eventually(t, patience, func() error {
		report := checkJSON(t)
		for _, c := range report.Checks {
			for _, f := range c.Findings {
				if f.Severity == "info" || strings.HasPrefix(c.ID, "agent-") && strings.Contains(f.Message, stale) {
					continue
				}
				return fmt.Errorf("%s is %s: %s %s", c.ID, c.State, f.Code, f.Message)
			}
			if c.State == "Unknown" {
				return fmt.Errorf("%s is unknown: %s", c.ID, c.Detail)
			}
		}
		if len(report.Incomplete) > 0 {
			return fmt.Errorf("incomplete: %q", report.Incomplete)
		}
		if report.Kind != "CheckReport" || report.Summary.Passed < 25 {
			return fmt.Errorf("kind %s, %+v", report.Kind, report.Summary)
		}
		for _, id := range []string{"diagnostics-api", "webhook-ca-bundle", "webhook-certificate", "webhook-deadlock", "manager-leader", "config-valid"} {
			if state, _ := report.state(id); state != "Pass" {
				return fmt.Errorf("%s is %s", id, state)
			}
		}
		return suppressible(report)
	})
}

// TestCheckBeforeAnInstallationKnowsTheRights: an administrator lacks none, and a viewer is told which.
func TestCheckBeforeAnInstallationKnowsTheRights(t *testing.T) {
	report := checkJSON(t, "--pre")
	if state, codes := report.state("install-rights"); state != "Pass" {
		t.Errorf("an administrator: %s %v", state, codes)
	}
	if state, codes := report.state("api-server-version"); state != "Pass" {
		t.Errorf("version: %s %v", state, codes)
	}
	const user = "check-viewer"
	bindView(t, user)
	report = checkJSON(t, "--pre", "--as", user)
	if state, codes := report.state("install-rights"); state != "Failed" || !slices.Contains(codes, "KOORD0605") {
		t.Errorf("a viewer: %s %v", state, codes)
	}
	report = checkJSON(t, "--as", user)
	if state, _ := report.state("manager-certificate"); state != "Unknown" {
		t.Errorf("a viewer sees that the certificate is %s", state)
	}
	if state, codes := report.state("agent-metrics"); state != "Failed" || !slices.Contains(codes, "KOORD0102") {
		t.Errorf("a viewer is told of the NodeMetrics: %s %v", state, codes)
	}
}

// TestCheckNamesABrokenBundle: while koord-manager hangs, nothing puts the caBundle back.
func TestCheckNamesABrokenBundle(t *testing.T) {
	awaitAdmission(t)
	t.Cleanup(func() { // without a manager that can be asked, other tests fail
		sandboxtest.Eventually(t, 2*patience, func() error { return trusted(t) })
	})
	backToTheSandbox(t)
	suspend(t)
	configurations := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	patch := fmt.Sprintf(`[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":%q}]`, base64.StdEncoding.EncodeToString(damaged(t)))
	// The API server may still carry out what the manager asked for last, and koordctl reads what the API server has in its cache.
	sandboxtest.Eventually(t, patience, func() error {
		if _, err := configurations.Patch(t.Context(), "koordinator-admission", types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return err
		}
		result, err := shared.Koordctl(t.Context(), "check", "webhook", "--fail-on", "error", "-o", "short")
		if err != nil {
			return err
		}
		if result.Code != 79 || !strings.Contains(result.Stdout, "failed webhook/webhook-certificate: KOORD0623 the caBundle of webhook ") {
			return fmt.Errorf("exit code %d, want 79 with the bundle:\n%s%s", result.Code, result.Stdout, result.Stderr)
		}
		return nil
	})
	// The lease expires, and the API server finds out that nothing answers.
	wants := map[string]string{"diagnostics-api": "Failed [KOORD0004]", "manager-available": "Failed [KOORD0013]", "manager-leader": "Skipped []", "agent-answers": "Skipped []"}
	sandboxtest.Eventually(t, 2*patience, func() error {
		report, got := checkJSON(t, "kubernetes", "agent", "manager"), map[string]string{}
		for id := range wants {
			state, codes := report.state(id)
			got[id] = fmt.Sprint(state, " ", codes)
		}
		if diff := cmp.Diff(wants, got); diff != "" {
			return fmt.Errorf("states (-want +got):\n%s", diff)
		}
		return nil
	})
}

// damaged is the certificate of an authority that signed nothing here: the API server accepts no text that is no certificate.
func damaged(t *testing.T) []byte {
	t.Helper()
	certificatePEM, _ := signed(t, tls.Certificate{}, time.Now().Add(time.Hour))
	return certificatePEM
}

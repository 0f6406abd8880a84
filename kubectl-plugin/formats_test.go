package kubectlplugin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/source/live/livetest"
)

// answerLines are a command line of every command whose answer is an object, by the name of its goldens.
var answerLines = map[string]string{
	"audit-node":             "audit node worker-1",
	"check":                  "check webhook config",
	"codes":                  "codes",
	"config-diff":            "config diff colocation-config.cpuReclaimThresholdPercent=80",
	"config-explain":         "config explain colocation-config.cpuReclaimThresholdPercent",
	"config-get":             "config get colocation-config",
	"config-history":         "config history",
	"config-lint":            "config lint",
	"config-plan":            "config plan colocation-config.enable=false",
	"explain-admission":      "explain admission -f testdata/admission-job.yaml",
	"explain-node":           "explain node worker-1 batch-cpu",
	"explain-node-agent":     "explain node worker-1 features suppress cpus",
	"explain-pod":            "explain pod huge -n shop",
	"explain-pod-bound":      "explain pod web-0 -n shop",
	"explain-qos-pod":        "explain qos pod executor-1 -n spark",
	"explain-gang":           "explain gang train",
	"explain-migration":      "explain migration rebalance",
	"explain-quota":          "explain quota web",
	"explain-recommendation": "explain recommendation web -n shop",
	"explain-reservation":    "explain reservation nightly -n shop",
	"forecast-evictions":     "forecast evictions",
	"top-devices":            "top devices",
	"top-nodes":              "top nodes",
	"top-pods":               "top pods -A",
	"top-quotas":             "top quotas -A",
	"top-recommendations":    "top recommendations -A",
	"top-workers":            "top workers -A",
	"tree-gang":              "tree gang",
	"tree-quota":             "tree quota",
	"tree-reservation":       "tree reservation",
	"why":                    "why KOORD0102",
}

// askedOf are the servers and options that a command line needs: the diagnostics API for what only it answers, and a configuration
// that can be written for the commands of it.
func askedOf(t *testing.T, name string) (*livetest.Server, []func(*Options)) {
	switch {
	case strings.HasPrefix(name, "config"):
		c := newCabinet()
		if name == "config-history" {
			run(t, cluster(), "config set colocation-config.cpuReclaimThresholdPercent=70 --yes", with(c))
		}
		if name == "config-lint" {
			c.current.Data["cpu-burst-config"] = `{"clusterStrategy": {"cpuBurstPercent": 999999, "burst": 1}}`
		}
		return cluster(), []func(*Options){with(c)}
	case name == "check":
		return checkedCluster(t), nil
	case name == "explain-admission":
		return admissionCluster(), nil
	case strings.Contains(name, "device"):
		return deviceCluster(), nil
	case strings.Contains(name, "workers"):
		return engineCluster(), nil
	case strings.Contains(name, "recommendation"):
		return recommendationCluster(t), nil
	case strings.Contains(name, "quota") || strings.Contains(name, "gang"):
		return gangCluster(), nil
	case name == "audit-node" || strings.Contains(name, "reservation") || name == "explain-migration":
		return completeCluster(t), nil
	default:
		return cluster(), nil
	}
}

// TestEveryCommandPrintsEveryFormat has a golden of each answer as a person reads it and as a program does.
func TestEveryCommandPrintsEveryFormat(t *testing.T) {
	for name, line := range answerLines {
		for _, format := range []string{"", "wide", "json", "yaml", "name"} {
			if name == "codes" {
				continue // the whole catalogue, which docs/codes.md has
			}
			t.Run(name+" "+format, func(t *testing.T) {
				asked, file := line, "formats/"+name
				if format != "" {
					asked, file = line+" -o "+format, file+"-"+format
				}
				server, edit := askedOf(t, name)
				golden(t, file, asked, run(t, server, asked, edit...))
			})
		}
	}
}

// TestJSONAndYAMLAreTheSameAnswer: a program may parse either.
func TestJSONAndYAMLAreTheSameAnswer(t *testing.T) {
	for name, line := range answerLines {
		t.Run(name, func(t *testing.T) {
			answers := map[string]any{}
			for _, format := range []string{"json", "yaml"} {
				server, edit := askedOf(t, name)
				var answer any
				if err := yaml.Unmarshal([]byte(run(t, server, line+" -o "+format, edit...).stdout), &answer); err != nil {
					t.Fatalf("%s: %v", format, err)
				}
				answers[format] = answer
			}
			if diff := cmp.Diff(answers["json"], answers["yaml"]); diff != "" {
				t.Errorf("-json +yaml:\n%s", diff)
			}
		})
	}
}

// TestFormatsOfOneField: what kubectl users write to get at one value works on every answer.
func TestFormatsOfOneField(t *testing.T) {
	for name, line := range answerLines {
		for format, check := range map[string]func(string) error{
			"jsonpath={.kind}":       oneWord,
			"go-template={{.kind}}":  oneWord,
			"jsonpath-as-json={@}":   validJSON,
			"custom-columns=K:.kind": func(text string) error { return headed("K", text) },
		} {
			t.Run(name+" "+format, func(t *testing.T) {
				server, edit := askedOf(t, name)
				got := run(t, server, line+" -o "+format, edit...)
				if err := check(got.stdout); err != nil {
					t.Errorf("%s -o %s: %v, exit code %d\n%s%s", line, format, err, got.code, got.stdout, got.stderr)
				}
			})
		}
	}
}

func oneWord(text string) error {
	if len(strings.Fields(text)) != 1 || strings.ContainsAny(text, "<{[") {
		return fmt.Errorf("%q is not one word", text)
	}
	return nil
}

func validJSON(text string) error {
	if !json.Valid([]byte(text)) {
		return fmt.Errorf("%q is not JSON", text)
	}
	return nil
}

func headed(header, text string) error {
	if lines := strings.Split(text, "\n"); lines[0] != header || len(lines) < 2 || strings.TrimSpace(lines[1]) == "" {
		return fmt.Errorf("%q has no rows below %s", text, header)
	}
	return nil
}

// TestNoHeadersLeavesOutNothingElse: a script that counts lines counts objects.
func TestNoHeadersLeavesOutNothingElse(t *testing.T) {
	for _, line := range []string{"top nodes", "top pods -A", "codes"} {
		with, without := run(t, cluster(), line), run(t, cluster(), line+" --no-headers")
		_, rows, _ := strings.Cut(with.stdout, "\n")
		if got, want := len(strings.Split(without.stdout, "\n")), len(strings.Split(rows, "\n")); got != want || without.code != ExitOK {
			t.Errorf("%s: %d lines without headers, want %d:\n%s", line, got, want, without.stdout)
		}
	}
}

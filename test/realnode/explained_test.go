package realnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/agentview"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/test/sandboxtest"
)

const (
	bySuppression = "BECPUSuppress"
	byBatch       = "BatchResource"
)

// ask has koordctl ask the node's agent, which must answer in full.
func (r *rig) ask(ctx context.Context, args ...string) (*diagnosticsv1alpha1.AgentExplanation, error) {
	result, err := r.Koordctl(ctx, append(args, "-o", "json")...)
	if err != nil {
		return nil, err
	}
	if result.Code != 0 {
		return nil, fmt.Errorf("koordctl %v: exit code %d\n%s", args, result.Code, result.Stderr)
	}
	var answer diagnosticsv1alpha1.NodeExplanation
	if err := json.Unmarshal([]byte(result.Stdout), &answer); err != nil {
		return nil, fmt.Errorf("koordctl %v: %w", args, err)
	}
	agent := answer.Status.Agent
	if agent == nil || agent.Component != agentview.ByAgent || len(agent.Incomplete) > 0 || len(answer.Status.Findings) > 0 {
		return nil, fmt.Errorf("koordctl %v: the agent did not respond, or not in full\n%s%s", args, result.Stdout, result.Stderr)
	}
	return agent, nil
}

// wantText checks that a command prints some words.
func (r *rig) wantText(t *testing.T, words []string, args ...string) {
	t.Helper()
	result, err := r.Koordctl(t.Context(), args...)
	if err != nil || result.Code != 0 || result.Stderr != "" {
		t.Errorf("koordctl %v: %v, exit code %d\n%s", args, err, result.Code, result.Stderr)
	}
	for _, word := range words {
		if !strings.Contains(result.Stdout, word) {
			t.Errorf("koordctl %v lacks %q:\n%s", args, word, result.Stdout)
		}
	}
}

// testExplained asks the agent of everything while it holds best-effort pods back, and compares with the kernel where that can tell.
func (r *rig) testExplained(t *testing.T, k *kernel, highest int64) {
	t.Run("explain node features", func(t *testing.T) {
		sandboxtest.Eventually(t, patience, func() error {
			agent, err := r.ask(t.Context(), "explain", "node", r.node, "features")
			if err != nil {
				return err
			}
			return wantFeatures(agent.Features)
		})
		r.wantText(t, []string{bySuppression, "resourceUsedThresholdWithBE.enable is true"}, "explain", "node", r.node, "features")
	})
	t.Run("explain node suppress", func(t *testing.T) {
		sandboxtest.Eventually(t, patience, func() error {
			agent, err := r.ask(t.Context(), "explain", "node", r.node, "suppress")
			if err != nil {
				return err
			}
			return k.wantSuppression(agent.Suppression, highest)
		})
		r.wantText(t, []string{"policy cfsQuota", "threshold", "50%", "budget", "IN-FORCE"}, "explain", "node", r.node, "suppress")
	})
	t.Run("explain node cpus", func(t *testing.T) {
		agent, err := r.ask(t.Context(), "explain", "node", r.node, "cpus")
		if err != nil {
			t.Fatal(err)
		}
		if agent.CPUs == nil || agent.CPUs.All == "" || !slices.ContainsFunc(agent.CPUs.Pools, func(p diagnosticsv1alpha1.CPUPool) bool { return p.Name == "shared" && p.Count > 0 }) {
			t.Errorf("CPUs are %+v", agent.CPUs)
		}
		r.wantText(t, []string{"CPUs " + agent.CPUs.All, "shared", "bestEffort"}, "explain", "node", r.node, "cpus")
	})
	t.Run("explain qos pod", func(t *testing.T) {
		r.wantSettings(t, k, map[string]string{
			bySuppression + " cpu.cfs_quota_us of all pods": "", byBatch + " cpu.shares of the pod": k.shares(2), byBatch + " memory.limit_in_bytes of the pod": "67108864",
			byBatch + " cpu.shares of main": k.shares(2), byBatch + " memory.limit_in_bytes of main": "67108864", byBatch + " cpu.cfs_quota_us of main": "-1",
		})
		r.wantText(t, []string{"Pod default/batch (BE, BestEffort)", bySuppression, "67108864"}, "explain", "qos", "pod", "batch")
	})
	t.Run("forecast evictions", func(t *testing.T) {
		agent, err := r.ask(t.Context(), "forecast", "evictions", "--node", r.node)
		if err != nil {
			t.Fatal(err)
		}
		if forecast := agent.Evictions; forecast == nil || len(forecast.Triggers) != len(eviction.Features()) {
			t.Errorf("the forecast is %+v, want one trigger for each feature", forecast)
		}
		r.wantText(t, []string{"samples over", "BEMemoryEvict"}, "forecast", "evictions", "--node", r.node, "-o", "wide")
	})
	t.Run("audit node", func(t *testing.T) {
		agent, err := r.ask(t.Context(), "audit", "node", r.node)
		if err != nil {
			t.Fatal(err)
		}
		k.wantAudited(t, agent.Audit, highest)
		r.wantText(t, []string{bySuppression, k.quota(), "best-effort pods may use"}, "audit", "node", r.node)
	})
}

// wantFeatures wants that suppression is in force, and that what evicts is off, which it is by default.
func wantFeatures(features []diagnosticsv1alpha1.AgentFeature) error {
	state := map[string]diagnosticsv1alpha1.AgentFeature{}
	for _, feature := range features {
		state[feature.Name] = feature
	}
	const yes = diagnosticsv1alpha1.FeatureYes
	if s := state[bySuppression]; !s.Gate || s.Configured != yes || s.Supported != yes || s.Active != yes || s.Effective != yes || s.Wanted == 0 || s.InForce != s.Wanted {
		return fmt.Errorf("%s is %+v, want that all is in force", bySuppression, s)
	}
	if b := state[byBatch]; !b.Gate || b.Effective != yes || b.InForce != b.Wanted {
		return fmt.Errorf("%s is %+v, want that all is in force", byBatch, b)
	}
	if e, told := state[string(eviction.BEMemoryEvict)]; !told || e.Gate {
		return fmt.Errorf("%s is %+v, want that it is off", eviction.BEMemoryEvict, e)
	}
	return nil
}

// wantSuppression wants a whole waterfall, and the quota that the kernel has.
func (k *kernel) wantSuppression(s *diagnosticsv1alpha1.SuppressionExplanation, highest int64) error {
	if s == nil || s.Enabled == nil || !*s.Enabled || s.Policy != "cfsQuota" || s.Budget == nil || len(s.Budget.Terms) < 5 {
		return fmt.Errorf("suppression is %+v, want a quota and its budget", s)
	}
	if last := s.Budget.Terms[len(s.Budget.Terms)-1]; last.Value != s.Budget.Result {
		return fmt.Errorf("the budget ends with %+v, want %d", last, s.Budget.Result)
	}
	if s.EffectiveQuotaMicroseconds == nil {
		return errors.New("the quota in force is not told")
	}
	effective := *s.EffectiveQuotaMicroseconds
	inForce, err := k.read(cgroup.CPUQuota, k.layout.QoS(corev1.PodQOSBestEffort))
	if err != nil {
		return err
	}
	if effective <= 0 || effective > highest || strconv.FormatInt(effective, 10) != inForce {
		return fmt.Errorf("the quota in force is said to be %d, want at most %d, and what the kernel has: %s", effective, highest, inForce)
	}
	return nil
}

// wantAudited wants the write of the quota in the log, with the reason.
func (k *kernel) wantAudited(t *testing.T, page *diagnosticsv1alpha1.AuditPage, highest int64) {
	t.Helper()
	if page == nil {
		t.Fatal("there is no audit log")
	}
	// On cgroup v1 the kernel refuses a quota below the one of a container, until BatchResource has lifted that.
	i := slices.IndexFunc(page.Entries, func(e diagnosticsv1alpha1.AuditEntry) bool {
		return e.Owner == bySuppression && e.Object == k.quota() && e.Error == ""
	})
	if i < 0 {
		t.Fatalf("no entry of %s by %s in %+v", k.quota(), bySuppression, page.Entries)
	}
	entry := page.Entries[i]
	before, err := cgroup.CPUQuota.Decode(k.layout.Version, entry.Old)
	if err != nil || before != "-1" {
		t.Errorf("there was %q before, %v; want no quota", entry.Old, err)
	}
	after, err := cgroup.CPUQuota.Decode(k.layout.Version, entry.New)
	if quota, problem := strconv.ParseInt(after, 10, 64); err != nil || problem != nil || quota <= 0 || quota > highest {
		t.Errorf("there is %q after, %v, %v; want a quota of at most %d", entry.New, err, problem, highest)
	}
	if !strings.Contains(entry.Why, "best-effort pods may use") || time.Since(entry.Time.Time) > time.Hour {
		t.Errorf("entry %+v, want why, and that it is new", entry)
	}
}

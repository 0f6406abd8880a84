package enforcement

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		facts       Facts
		wantReason  string
		wantMessage string
	}{
		"all is well":                          {Facts{}, slov1alpha1.ReasonEnforcing, "can limit"},
		"read-only by choice":                  {Facts{ReadOnly: true, Unread: time.Hour}, slov1alpha1.ReasonReadOnly, "--read-only"},
		"originals are damaged":                {Facts{OriginalsUnread: "checksum"}, slov1alpha1.ReasonOriginalsUnreadable, "checksum"},
		"the disk is full":                     {Facts{OriginalsUnsaved: "no space left on device"}, slov1alpha1.ReasonOriginalsNotSaved, "no space"},
		"cgroups are mounted read-only":        {Facts{CgroupsReadOnly: "/sys/fs/cgroup"}, slov1alpha1.ReasonWritesRefused, "/sys/fs/cgroup are mounted read-only"},
		"the one value of a feature":           {Facts{Features: []Feature{{"BECPUSuppress", true, 1, 1, "EPERM"}}}, slov1alpha1.ReasonWritesRefused, "1 of the 1 values of BECPUSuppress: EPERM"},
		"one value of all together":            {Facts{Features: []Feature{{"BECPUSuppress", true, 2, 1, "EPERM"}}}, slov1alpha1.ReasonWritesRefused, "1 of the 2 values of BECPUSuppress"},
		"half of the values":                   {Facts{Features: []Feature{{"BatchResource", false, 8, 4, "EINVAL"}}}, slov1alpha1.ReasonEnforcing, ""},
		"more than half of the values":         {Facts{Features: []Feature{{"BECPUSuppress", true, 1, 0, ""}, {"BatchResource", false, 8, 5, "EINVAL"}}}, slov1alpha1.ReasonWritesRefused, "5 of the 8 values of BatchResource"},
		"a feature that wants nothing":         {Facts{Features: []Feature{{"BECPUSuppress", true, 0, 0, ""}}}, slov1alpha1.ReasonEnforcing, ""},
		"it was just started":                  {Facts{Unread: 30 * time.Second}, slov1alpha1.ReasonEnforcing, ""},
		"it may not read the NodeSLO":          {Facts{Unread: 31 * time.Second}, slov1alpha1.ReasonObjectsUnread, "has not read"},
		"what sets nothing at all comes first": {Facts{OriginalsUnread: "checksum", OriginalsUnsaved: "full"}, slov1alpha1.ReasonOriginalsUnreadable, "checksum"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Decide(tc.facts)
			if got.Reason != tc.wantReason || got.Enforcing != (tc.wantReason == slov1alpha1.ReasonEnforcing) || !strings.Contains(got.Message, tc.wantMessage) {
				t.Errorf("verdict %+v, want %s, %q", got, tc.wantReason, tc.wantMessage)
			}
			condition := got.Condition()
			condition.LastTransitionTime = metav1.Now()
			back, told := Told(&slov1alpha1.NodeMetric{Status: slov1alpha1.NodeMetricStatus{Conditions: []metav1.Condition{{Type: "Other", Status: "False"}, condition}}})
			if diff := cmp.Diff(got, back); diff != "" || !told {
				t.Errorf("told %t (-want +got):\n%s", told, diff)
			}
		})
	}
}

// TestToldOfAnAgentThatDoesNotTell is false: upstream's koordlet, a definition without conditions, or no agent that could be asked.
func TestToldOfAnAgentThatDoesNotTell(t *testing.T) {
	unknown := &slov1alpha1.NodeMetric{Status: slov1alpha1.NodeMetricStatus{Conditions: []metav1.Condition{{Type: slov1alpha1.NodeMetricEnforcing, Status: metav1.ConditionUnknown}}}}
	for name, metric := range map[string]*slov1alpha1.NodeMetric{"no NodeMetric": nil, "no conditions": {}, "status Unknown": unknown} {
		if verdict, told := Told(metric); told {
			t.Errorf("%s: told %+v", name, verdict)
		}
	}
}

func TestSteadyDampsWhatComesAndGoes(t *testing.T) {
	good, full := Decide(Facts{}), Decide(Facts{OriginalsUnsaved: "full"})
	damaged, unread := Decide(Facts{OriginalsUnread: "checksum"}), Decide(Facts{Unread: time.Minute})
	fuller := Decide(Facts{OriginalsUnsaved: "fuller"})
	type step struct {
		after time.Duration
		saw   Verdict
		want  Verdict
	}
	tests := map[string][]step{
		"the first verdict counts at once":          {{0, full, full}},
		"a failure of a second is not told":         {{0, good, good}, {time.Second, full, good}, {time.Second, good, good}, {time.Second, full, good}},
		"a failure of two seconds is":               {{0, good, good}, {time.Second, full, good}, {2 * time.Second, full, full}},
		"a recovery counts after half a minute":     {{0, full, full}, {time.Second, good, full}, {29 * time.Second, good, full}, {time.Second, good, good}},
		"a relapse has it begin anew":               {{0, full, full}, {time.Second, good, full}, {29 * time.Second, full, full}, {time.Second, good, full}, {29 * time.Second, good, full}},
		"other words for the same are told at once": {{0, full, full}, {time.Second, fuller, fuller}},
		"another reason after two seconds":          {{0, full, full}, {time.Second, damaged, full}, {2 * time.Second, damaged, damaged}},
		"what was read is told at once":             {{0, unread, unread}, {time.Second, good, good}},
		"the clock was set back":                    {{0, good, good}, {time.Hour, full, good}, {-30 * time.Minute, full, full}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			now, steady := time.Unix(1e9, 0), Steady{}
			for i, s := range steps {
				now = now.Add(s.after)
				steady = steady.Next(s.saw, now)
				if steady.Told != s.want {
					t.Fatalf("step %d: told %+v, want %+v", i, steady.Told, s.want)
				}
			}
		})
	}
}

package parameter

import (
	"slices"
	"strings"
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
)

// FuzzDecode: what is read of a parameter reads the same when it is written back, and of features it is a word of the content.
func FuzzDecode(f *testing.F) {
	f.Add("67584\n", "PLACE_LAG")
	f.Add("GENTLE_FAIR_SLEEPERS START_DEBIT NO_NEXT_BUDDY LAST_BUDDY CACHE_HOT_BUDDY WAKEUP_PREEMPTION NO_HRTICK NONTASK_CAPACITY\n", "NEXT_BUDDY")
	f.Add("PLACE_LAG PLACE_DEADLINE_INITIAL PLACE_REL_DEADLINE RUN_TO_PARITY PREEMPT_SHORT NO_NEXT_BUDDY PICK_BUDDY\n", "NEXT_BUDDY")
	f.Add("-1\n", "")
	f.Add("9223372036854775807", "NO_")
	f.Add("99999999999999999999 \x00", "NO_NO_A")
	f.Fuzz(func(t *testing.T, content, feature string) {
		for _, p := range parameters {
			p.feature = feature
			own := p.Own(cgroup.V2, content)
			value, err := p.Decode(cgroup.V2, content)
			if err != nil {
				if value != "" {
					t.Errorf("%s: %q beside %v", p.Key(), value, err)
				}
				continue
			}
			if again, err := p.Decode(cgroup.V2, own); err != nil || again != value {
				t.Errorf("%s: %q is kept as %q, which reads %q, %v; want %q", p.Key(), content, own, again, err, value)
			}
			if p.switches && !slices.Contains(strings.Fields(content), value) {
				t.Errorf("%s: %q is no word of %q", p.Key(), value, content)
			}
			if again, known := ByKey(p.Key()); !strings.ContainsAny(feature, " \n") && (!known || again.path != p.path) {
				t.Errorf("key %q finds %+v, %t", p.Key(), again, known)
			}
			if written, err := p.Encode(cgroup.V2, value); err == nil && written != value {
				t.Errorf("%s: %q is written as %q", p.Key(), value, written)
			}
		}
	})
}

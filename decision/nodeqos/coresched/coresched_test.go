package coresched

import (
	"testing"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestGroupOf(t *testing.T) {
	on := func() *slov1alpha1.ResourceQOSStrategy {
		out := configuration.DefaultResourceQOSStrategy()
		out.Policies.CPUPolicy = new(slov1alpha1.CPUQOSPolicyCoreSched)
		out.LSClass.CPUQOS.Enable, out.BEClass.CPUQOS.Enable = new(true), new(true)
		out.BEClass.CPUQOS.SchedIdle = new(int64(1))
		return out
	}
	identity := on()
	identity.Policies.CPUPolicy = new(slov1alpha1.CPUQOSPolicyGroupIdentity)
	tests := map[string]struct {
		strategy   *slov1alpha1.ResourceQOSStrategy
		pod        Pod
		wantCookie bool
		wantID     string
		wantIdle   bool
	}{
		"services of a group expel others":       {on(), Pod{UID: "u", QoS: extension.QoSLS, GroupID: "team"}, true, "team-expeller", false},
		"best effort of the group does not":      {on(), Pod{UID: "u", QoS: extension.QoSBE, GroupID: "team"}, true, "team", true},
		"without a group, all such are one":      {on(), Pod{UID: "u", QoS: extension.QoSLS}, true, "-expeller", false},
		"alone":                                  {on(), Pod{UID: "u", QoS: extension.QoSLS, GroupID: "team", Policy: extension.CoreSchedPolicyExclusive}, true, "u", false},
		"not at all":                             {on(), Pod{UID: "u", QoS: extension.QoSBE, GroupID: "team", Policy: extension.CoreSchedPolicyNone}, false, "", true},
		"a class that is off":                    {on(), Pod{UID: "u", QoS: extension.QoSLSR, GroupID: "team"}, false, "", false},
		"another policy":                         {identity, Pod{UID: "u", QoS: extension.QoSLS, GroupID: "team"}, false, "", false},
		"no strategy":                            {nil, Pod{UID: "u", QoS: extension.QoSLS}, false, "", false},
		"SYSTEM":                                 {on(), Pod{UID: "u", QoS: extension.QoSSystem, GroupID: "team"}, false, "", false},
		"a class that is not known has no group": {on(), Pod{UID: "u"}, false, "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := GroupOf(tc.strategy, tc.pod)
			if got.Cookie != tc.wantCookie || got.ID != tc.wantID || got.Idle != tc.wantIdle || got.Reason == "" {
				t.Errorf("%+v, want cookie %v %q idle %v", got, tc.wantCookie, tc.wantID, tc.wantIdle)
			}
		})
	}
}

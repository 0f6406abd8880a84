package colocationprofile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/test/profilecases"
)

// asJSON is what is compared: the bytes that the API server would store.
func asJSON(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	data, err := json.MarshalIndent(pod, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func inputOf(t *testing.T, test profilecases.Case) colocationprofile.Input {
	t.Helper()
	profiles, err := test.ReadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	pod, err := test.ReadPod(test.Pod)
	if err != nil {
		t.Fatal(err)
	}
	return colocationprofile.Input{
		Pod: pod, Namespace: pod.Namespace, NamespaceLabels: profilecases.NamespaceLabels(), Profiles: profiles,
		PriorityClasses: profilecases.PriorityClasses(), Chance: func(string) int { return test.Draw },
	}
}

func TestProfilesChangePods(t *testing.T) {
	for _, test := range profilecases.All() {
		t.Run(test.Name, func(t *testing.T) {
			in := inputOf(t, test)
			before := asJSON(t, in.Pod)
			trace := &colocationprofile.Trace{}
			result, err := colocationprofile.Decide(in, trace)
			if test.WantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.WantError) {
					t.Fatalf("error is %v, want %q", err, test.WantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := test.ReadPod(test.WantPod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(asJSON(t, want), asJSON(t, result)); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, asJSON(t, in.Pod)); diff != "" {
				t.Errorf("the input was changed:\n%s", diff)
			}
			if len(trace.Profiles) != len(in.Profiles) {
				t.Errorf("the trace has %d of %d profiles", len(trace.Profiles), len(in.Profiles))
			}
			if silent, err := colocationprofile.Decide(in, nil); err != nil || !cmp.Equal(result, silent) {
				t.Errorf("without a trace: %v (-with +without):\n%s", err, cmp.Diff(result, silent))
			}
		})
	}
}

package objects

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// TestTheArgumentsDecideWhichPodsMayLeave: each argument of the MigrationController that concerns eviction is handed on to the gates.
func TestTheArgumentsDecideWhichPodsMayLeave(t *testing.T) {
	claim := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	}
	threshold := func(name string, value *int32) func(*migration.Args) {
		return func(a *migration.Args) { a.PriorityThreshold = &migration.PriorityThreshold{Name: name, Value: value} }
	}
	const bareRefusal = "it has no owner that would create it again, and evictAllBarePods is false"
	tests := map[string]struct {
		pod  func(*corev1.Pod)
		args func(*migration.Args)
		// want is why the pod may not leave; empty when it may.
		want string
		// wantUnknown is what is said not to be known.
		wantUnknown string
	}{
		"by default a pod with a controller may": {},
		"a pod without one may not":              {pod: bare, want: bareRefusal},
		"unless all of these may":                {pod: bare, args: func(a *migration.Args) { a.EvictAllBarePods = true }},
		"or it failed, and failed ones may":      {pod: func(p *corev1.Pod) { bare(p); inPhase(corev1.PodFailed)(p) }, args: func(a *migration.Args) { a.EvictFailedBarePods = true }},
		"one that runs may not then": {
			pod: bare, args: func(a *migration.Args) { a.EvictFailedBarePods = true },
			want: "it has no owner that would create it again and is running; evictFailedBarePods allows failed ones only",
		},
		"local storage":                    {pod: withEmptyDir, want: "it has local storage: emptyDir cache, and evictLocalStoragePods is false"},
		"local storage that may be lost":   {pod: withEmptyDir, args: func(a *migration.Args) { a.EvictLocalStoragePods = true }},
		"a gate that is skipped":           {pod: withEmptyDir, args: func(a *migration.Args) { a.SkipEvictionGates = []string{"LocalStorage"} }},
		"a claim":                          {pod: claim},
		"a claim, where they exclude pods": {pod: claim, args: func(a *migration.Args) { a.IgnorePVCPods = true }, want: "it uses the persistent volume claims data, and ignorePvcPods is true"},
		"system critical":                  {pod: ofPriority(2000000000), want: "its priority 2000000000 is system-critical, from 2000000000 on, and evictSystemCriticalPods is false"},
		"system critical, where these may": {pod: ofPriority(2000000000), args: func(a *migration.Args) { a.EvictSystemCriticalPods = true }},
		"a namespace that is excluded":     {args: func(a *migration.Args) { a.Namespaces = &migration.Namespaces{Exclude: []string{"shop"}} }, want: "its namespace shop is excluded"},
		"a namespace that is not included": {
			args: func(a *migration.Args) { a.Namespaces = &migration.Namespaces{Include: []string{"bank"}} },
			want: "its namespace shop is not among the included ones: bank",
		},
		"a label selector": {args: func(a *migration.Args) {
			a.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
		}, want: "its labels do not match the labelSelector app=db"},
		"below the threshold": {pod: ofPriority(99), args: threshold("", new(int32(100)))},
		"at the threshold":    {pod: ofPriority(100), args: threshold("", new(int32(100))), want: "its priority 100 is not below the priorityThreshold 100"},
		"a class that every cluster has": {
			pod: ofPriority(2000000000), args: threshold("system-cluster-critical", nil),
			want: "its priority 2000000000 is system-critical, from 2000000000 on, and evictSystemCriticalPods is false; its priority 2000000000 is not below the priorityThreshold 2000000000",
		},
		"another class":                 {pod: ofPriority(100), args: threshold("gold", nil), wantUnknown: `the priority of PriorityClass "gold", which priorityThreshold names, was not read`},
		"no threshold in the threshold": {pod: ofPriority(100), args: threshold("", nil)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			args, p := migration.DefaultArgs(), web("web-0", "a")
			if tc.args != nil {
				tc.args(args)
			}
			if tc.pod != nil {
				tc.pod(p)
			}
			policy, unknown, err := evictionPolicy(args)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if verdict := evictability.Decide(evictability.Input{Pod: p, Policy: policy}); !verdict.Allowed {
				got = verdict.Message()
			}
			if got != tc.want {
				t.Errorf("refused because %q, want %q", got, tc.want)
			}
			if got := strings.Join(unknown, "\n"); !strings.HasPrefix(got, tc.wantUnknown) || tc.wantUnknown == "" && got != "" {
				t.Errorf("unknown %q, want %q", got, tc.wantUnknown)
			}
		})
	}
}

func TestTheNodesOfNodeFitAreSelected(t *testing.T) {
	args := migration.DefaultArgs()
	args.NodeFit, args.NodeSelector = true, "pool in (gpu, shared),!old"
	policy, _, err := evictionPolicy(args)
	if err != nil || !policy.NodeFit {
		t.Fatalf("policy %+v, error %v", policy, err)
	}
	got := map[string]bool{}
	for name, set := range map[string]labels.Set{"gpu": {"pool": "gpu"}, "old": {"pool": "gpu", "old": ""}, "other": {"pool": "cpu"}} {
		got[name] = policy.NodeSelector.Matches(set)
	}
	if diff := cmp.Diff(map[string]bool{"gpu": true, "old": false, "other": false}, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

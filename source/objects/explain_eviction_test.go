package objects

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/decision/nodeqos/agentview"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// evictionOf asks about a pod of a cluster in which all that evicts runs, and no eviction by the node's usage is configured.
func evictionOf(p *corev1.Pod, edits ...func(*EvictionSnapshot)) *EvictionSnapshot {
	in := &EvictionSnapshot{Pod: p, Now: now, Descheduling: true, Descheduler: ShippedDescheduler("koordinator-system"), Undecided: map[string][]string{}, Unsure: map[string][]string{}}
	if p.Spec.NodeName != "" {
		object := node(p.Spec.NodeName, readyNode)
		object.Status.Capacity = resources("cpu", "16", "memory", "64Gi")
		in.Reported, in.Node = true, &agentview.Node{Now: now, Object: &object, Pods: []*corev1.Pod{p}, On: map[eviction.Feature]bool{eviction.SoftEvict: true}}
		for _, feature := range eviction.Features() {
			in.Node.On[feature] = true
		}
		usage := usageOf(p.Spec.NodeName, 0, map[string]string{p.Name: "1"})
		in.Node.Measure(&usage)
	}
	for _, edit := range edits {
		edit(in)
	}
	return in
}

// explained is the answer about an eviction; lines are its evictors, by their names, as STATE; needs: ...; because: ...; unknown: ....
func explained(t *testing.T, in *EvictionSnapshot) (answer *diagnosticsv1alpha1.EvictionExplanation, lines map[string]string) {
	t.Helper()
	answer, err := ExplainEviction(in)
	if err != nil {
		t.Fatal(err)
	}
	lines = map[string]string{}
	for _, e := range answer.Evictors {
		line := e.State
		for _, part := range []struct {
			what string
			of   []string
		}{{"needs", e.Needs}, {"because", e.Protections}, {"unknown", e.Unknown}} {
			if len(part.of) > 0 {
				line += "; " + part.what + ": " + strings.Join(part.of, ", and ")
			}
		}
		lines[e.Name] = line
	}
	return answer, lines
}

func onItsNode(edit func(*corev1.Node)) func(*EvictionSnapshot) {
	return func(in *EvictionSnapshot) { edit(in.Node.Object) }
}

func underPressure(of corev1.NodeConditionType) func(*EvictionSnapshot) {
	return onItsNode(func(n *corev1.Node) {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: of, Status: corev1.ConditionTrue})
	})
}

func withBudgets(budgets ...policyv1.PodDisruptionBudget) func(*EvictionSnapshot) {
	return func(in *EvictionSnapshot) { in.Budgets = budgets }
}

// withJob adds a PodMigrationJob for pod shop/web-0.
func withJob(phase schedulingv1alpha1.PodMigrationJobPhase, edits ...func(*schedulingv1alpha1.PodMigrationJob)) func(*EvictionSnapshot) {
	job := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "move-web"}}
	job.Spec.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "web-0", UID: "web-0"}
	job.Status.Phase = phase
	for _, edit := range edits {
		edit(&job)
	}
	return func(in *EvictionSnapshot) { in.Jobs = append(in.Jobs, job) }
}

// withCircle adds jobs that moved pods of a workload from a to b two hours ago, and back an hour ago.
func withCircle(workload string) func(*EvictionSnapshot) {
	return func(in *EvictionSnapshot) {
		for i, nodes := range [][2]string{{"a", "b"}, {"b", "a"}} {
			job := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{
				Name: "moved-to-" + nodes[1], CreationTimestamp: metav1.NewTime(now.Add(time.Duration(i-2) * time.Hour)),
				Annotations: map[string]string{extension.AnnotationSourceNode: nodes[0], extension.AnnotationSourceWorkload: workload},
			}}
			job.Spec.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "web-before", UID: "before"}
			job.Status.Phase, job.Status.NodeName = schedulingv1alpha1.PodMigrationJobSucceeded, nodes[1]
			in.Jobs = append(in.Jobs, job)
		}
	}
}

// belowDeployment makes a Deployment the controller of the pod's ReplicaSet.
func belowDeployment(uid types.UID) func(*EvictionSnapshot) {
	return func(in *EvictionSnapshot) {
		in.Above = &metav1.OwnerReference{Kind: "Deployment", UID: uid, Controller: new(true)}
	}
}

func evicting(edit func(*migration.Args)) func(*EvictionSnapshot) {
	return func(in *EvictionSnapshot) { edit(in.Descheduler.Profiles[0].Migration) }
}

func TestEachEvictorSaysWhatItNeeds(t *testing.T) {
	type edits = []func(*corev1.Pod)
	type reads = []func(*EvictionSnapshot)
	unbound := func(p *corev1.Pod) { p.Spec.NodeName = "" }
	nodeFit := evicting(func(a *migration.Args) { a.NodeFit = true })
	refused := func(gate string) string {
		return "protected; needs: a PodMigrationJob must be created for it; because: gate " + gate
	}
	const noJob = "possible; needs: a PodMigrationJob must be created for it"
	passed := func(j *schedulingv1alpha1.PodMigrationJob) {
		j.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
	}
	ref := func(edit func(*corev1.ObjectReference)) func(*schedulingv1alpha1.PodMigrationJob) {
		return func(j *schedulingv1alpha1.PodMigrationJob) { edit(j.Spec.PodRef) }
	}
	tests := map[string]struct {
		pod  []func(*corev1.Pod)
		in   []func(*EvictionSnapshot)
		of   string
		want string
	}{
		"the kubelet needs pressure":      {of: "kubelet", want: "possible; needs: node a must be under memory, disk or PID pressure"},
		"the kubelet under disk pressure": {in: reads{underPressure(corev1.NodeDiskPressure)}, of: "kubelet", want: "now"},
		"network trouble is no pressure":  {in: reads{underPressure(corev1.NodeNetworkUnavailable)}, of: "kubelet", want: "possible; needs: node a must be under memory, disk or PID pressure"},
		"the kubelet spares critical pods": {
			pod: edits{ofPriority(2000000000)}, in: reads{underPressure(corev1.NodeMemoryPressure)},
			of: "kubelet", want: "protected; because: the kubelet spares critical pods, and its priority is 2000000000",
		},
		"the kubelet spares static pods": {pod: edits{mirrored}, in: reads{underPressure(corev1.NodePIDPressure)}, of: "kubelet", want: "protected; because: the kubelet spares static pods"},
		"the node could not be read": {
			in: reads{func(in *EvictionSnapshot) { in.Node, in.Reported = nil, false }},
			of: "kubelet", want: "possible; needs: the node must be under pressure, which is not known: it could not be read",
		},
		"koordlet does not run":              {in: reads{func(in *EvictionSnapshot) { in.Reported = false }}, of: "agent", want: "protected; because: koordlet does not run on the node"},
		"no eviction by usage is configured": {of: "agent", want: "protected; because: no eviction feature of koordlet is enabled on the node"},

		"a drain needs its node":     {of: "drain", want: "possible; needs: the node must be drained"},
		"a drain of a cordoned node": {in: reads{onItsNode(cordoned)}, of: "drain", want: "now"},
		"a drain needs flags": {
			pod: edits{bare, withEmptyDir}, in: reads{onItsNode(cordoned)},
			of: "drain", want: "possible; needs: kubectl drain needs --delete-emptydir-data --force: volume cache is an emptyDir, whose data is lost; no controller creates it again",
		},
		"a drain leaves pods of a DaemonSet": {
			pod: edits{ofController("DaemonSet", "log")},
			of:  "drain", want: "protected; because: kubectl drain skips it: DaemonSet log runs it on every node",
		},
		"a drain leaves static pods": {pod: edits{mirrored}, of: "drain", want: "protected; because: kubectl drain skips it: it is the mirror of a static pod"},
		"a budget holds a drain back": {
			in: reads{onItsNode(cordoned), withBudgets(budgetOf("web", 0))},
			of: "drain", want: "protected; because: PodDisruptionBudget web-budget allows no disruption: it needs 3 healthy pods and has 3",
		},
		"a budget with room does not":      {in: reads{onItsNode(cordoned), withBudgets(budgetOf("web", 1))}, of: "drain", want: "now"},
		"a budget for other pods does not": {in: reads{onItsNode(cordoned), withBudgets(budgetOf("db", 0))}, of: "drain", want: "now"},
		"two budgets hold it back": {
			in: reads{onItsNode(cordoned), withBudgets(budgetOf("web", 1), budgetOf("web", 1))},
			of: "drain", want: "protected; because: 2 PodDisruptionBudgets select the pod, and the eviction API supports one: web-budget, web-budget",
		},
		"a budget does not keep a pending pod": {pod: edits{inPhase(corev1.PodPending)}, in: reads{onItsNode(cordoned), withBudgets(budgetOf("web", 0))}, of: "drain", want: "now"},
		"a budget does not hold the kubelet":   {in: reads{underPressure(corev1.NodeMemoryPressure), withBudgets(budgetOf("web", 0))}, of: "kubelet", want: "now"},
		"no descheduler":                       {in: reads{func(in *EvictionSnapshot) { in.Descheduling = false }}, of: "descheduler", want: "protected; because: koord-descheduler does not run"},
		"the descheduler needs a job":          {of: "descheduler", want: noJob},
		"a job waits for the arbitration":      {in: reads{withJob("")}, of: "descheduler", want: "possible; needs: PodMigrationJob move-web must pass the arbitration"},
		"a pending job does too": {
			in: reads{withJob(schedulingv1alpha1.PodMigrationJobPending)},
			of: "descheduler", want: "possible; needs: PodMigrationJob move-web must pass the arbitration",
		},
		"a job passed the arbitration": {in: reads{withJob(schedulingv1alpha1.PodMigrationJobPending, passed)}, of: "descheduler", want: "now"},
		"a job runs":                   {in: reads{withJob(schedulingv1alpha1.PodMigrationJobRunning)}, of: "descheduler", want: "now"},
		"a job that ended does not count": {
			in: reads{withJob(schedulingv1alpha1.PodMigrationJobSucceeded), withJob(schedulingv1alpha1.PodMigrationJobFailed), withJob(schedulingv1alpha1.PodMigrationJobAborted)},
			of: "descheduler", want: noJob,
		},
		"a job for an earlier pod of the name": {in: reads{withJob("", ref(func(r *corev1.ObjectReference) { r.UID = "older" }))}, of: "descheduler", want: noJob},
		"its Deployment goes in circles": {
			in: reads{withCircle("Deployment/web/uid-web"), belowDeployment("uid-web")},
			of: "descheduler", want: refused("MigrationLoop: KOORD1501: Deployment/web/uid-web left node a and was moved back to it from b 1h0m0s later; plugins do not move its pods until " + now.Add(22*time.Hour).UTC().Format(time.RFC3339)),
		},
		"its ReplicaSet does": {
			pod: edits{func(p *corev1.Pod) { p.OwnerReferences[0].UID = "uid-rs" }}, in: reads{withCircle("ReplicaSet/web/uid-rs")},
			of: "descheduler", want: refused("MigrationLoop: KOORD1501: ReplicaSet/web/uid-rs left node a and was moved back to it from b 1h0m0s later; plugins do not move its pods until " + now.Add(22*time.Hour).UTC().Format(time.RFC3339)),
		},
		"another Deployment does": {in: reads{withCircle("Deployment/db/uid-db"), belowDeployment("uid-web")}, of: "descheduler", want: noJob},
		"it did before the history window": {
			in: reads{withCircle("Deployment/web/uid-web"), belowDeployment("uid-web"), func(in *EvictionSnapshot) {
				in.Descheduler.Profiles[0].Rebalance.HistoryWindow.Duration = 90 * time.Minute
			}}, of: "descheduler", want: noJob,
		},
		"it does, and a job runs all the same": {
			in: reads{withCircle("Deployment/web/uid-web"), belowDeployment("uid-web"), withJob(schedulingv1alpha1.PodMigrationJobRunning)}, of: "descheduler", want: "now",
		},
		"a job that names no UID": {
			in: reads{withJob("", ref(func(r *corev1.ObjectReference) { r.UID = "" }))},
			of: "descheduler", want: "possible; needs: PodMigrationJob move-web must pass the arbitration",
		},
		"a job of another namespace": {in: reads{withJob("", ref(func(r *corev1.ObjectReference) { r.Namespace = "bank" }))}, of: "descheduler", want: noJob},
		"a job without a pod":        {in: reads{withJob("", func(j *schedulingv1alpha1.PodMigrationJob) { j.Spec.PodRef = nil })}, of: "descheduler", want: noJob},
		"the gates refuse it": {
			pod: edits{bare, inNamespace("kube-system")},
			of:  "descheduler", want: refused("BarePods: it has no owner that would create it again, and evictAllBarePods is false, and gate Namespaces: its namespace kube-system is excluded"),
		},
		"an eviction cost that forbids it": {
			pod: edits{annotated(extension.AnnotationEvictionCost, "2147483647")},
			of:  "descheduler", want: refused("EvictionCost: its annotation scheduling.koordinator.sh/eviction-cost is 2147483647, which excludes it from migration"),
		},
		"an eviction cost that is none":       {pod: edits{annotated(extension.AnnotationEvictionCost, "a lot")}, of: "descheduler", want: noJob},
		"a pod that is being deleted":         {pod: edits{terminating}, of: "descheduler", want: refused("Terminating: it is being deleted since 2026-03-04T05:05:07Z")},
		"no profile, no gates":                {pod: edits{bare}, in: reads{func(in *EvictionSnapshot) { in.Descheduler.Profiles = nil }}, of: "descheduler", want: noJob},
		"no configuration, no gates":          {pod: edits{bare}, in: reads{func(in *EvictionSnapshot) { in.Descheduler = nil }}, of: "descheduler", want: noJob},
		"nodeFit, and there is no other node": {in: reads{nodeFit}, of: "descheduler", want: refused("NodeFit: there is no other node that it could move to, and nodeFit is true")},
		"nodeFit, and another node is full": {
			in: reads{nodeFit, withCluster("16")},
			of: "descheduler", want: refused("NodeFit: none of 1 other nodes takes it, and nodeFit is true: 1 Insufficient cpu"),
		},
		"nodeFit, and another node has room":  {in: reads{nodeFit, withCluster("15")}, of: "descheduler", want: noJob},
		"nodeFit, and a pod there ended":      {in: reads{nodeFit, withCluster("16", inPhase(corev1.PodSucceeded))}, of: "descheduler", want: noJob},
		"the kubelet of a pod without a node": {pod: edits{unbound}, of: "kubelet", want: "possible; needs: the pod has to be bound to a node"},
		"the agent of a pod without a node":   {pod: edits{unbound}, of: "agent", want: "protected; because: the pod has no node"},
		"preemption of a pod without a node":  {pod: edits{unbound}, of: "preemption", want: "possible; needs: a pod with a priority above 0 must wait for node (none)"},
		"a priority threshold that is a number": {
			pod: edits{ofPriority(9000)}, in: reads{evicting(func(a *migration.Args) { a.PriorityThreshold = &migration.PriorityThreshold{Value: new(int32(9000))} })},
			of: "descheduler", want: refused("PriorityThreshold: its priority 9000 is not below the priorityThreshold 9000"),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, lines := explained(t, evictionOf(web("web-0", "a", tc.pod...), tc.in...))
			if got := lines[tc.of]; got != tc.want {
				t.Errorf("%s is\n%s, want\n%s", tc.of, got, tc.want)
			}
		})
	}
}

// withCluster adds node b with 16 cpu, of which another pod requests some.
func withCluster(cpu string, edits ...func(*corev1.Pod)) func(*EvictionSnapshot) {
	return func(in *EvictionSnapshot) {
		in.Nodes = []corev1.Node{*in.Node.Object, node("b", readyNode)}
		in.Pods = []corev1.Pod{*in.Pod, *web("other", "b", append([]func(*corev1.Pod){requesting("cpu", cpu)}, edits...)...)}
	}
}

func TestAnEvictionIsToldInOneSentence(t *testing.T) {
	forbidden := func(names ...string) func(*EvictionSnapshot) {
		return func(in *EvictionSnapshot) {
			for _, name := range names {
				in.Undecided[name] = []string{"it could not be read"}
			}
		}
	}
	tests := map[string]struct {
		on        string
		in        []func(*EvictionSnapshot)
		want      string
		wantOrder []string
	}{
		"nothing can evict it now": {
			on: "a", want: "pod on node a: nothing can evict it now; possible by kubelet, preemption, descheduler, drain; protected from agent, quota",
			wantOrder: []string{"kubelet", "preemption", "descheduler", "drain", "agent", "quota"},
		},
		"some can": {
			on: "a", in: []func(*EvictionSnapshot){underPressure(corev1.NodeMemoryPressure), onItsNode(cordoned)},
			want:      "pod on node a: can be evicted now by kubelet, drain; possible by preemption, descheduler; protected from agent, quota",
			wantOrder: []string{"kubelet", "drain", "preemption", "descheduler", "agent", "quota"},
		},
		"without a node": {
			want:      "pod without a node: nothing can evict it now; possible by kubelet, preemption, descheduler, drain; protected from agent, quota",
			wantOrder: []string{"kubelet", "preemption", "descheduler", "drain", "agent", "quota"},
		},
		"not all could be read": {
			on: "a", in: []func(*EvictionSnapshot){forbidden("agent", "descheduler")},
			want:      "pod on node a: nothing is known that can evict it now; possible by kubelet, preemption, drain; unknown for descheduler, agent; protected from quota",
			wantOrder: []string{"kubelet", "preemption", "drain", "descheduler", "agent", "quota"},
		},
		"what is known to evict it is said all the same": {
			on: "a", in: []func(*EvictionSnapshot){forbidden("preemption"), onItsNode(cordoned)},
			want:      "pod on node a: can be evicted now by drain; possible by kubelet, descheduler; unknown for preemption; protected from agent, quota",
			wantOrder: []string{"drain", "kubelet", "descheduler", "preemption", "agent", "quota"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			answer, _ := explained(t, evictionOf(web("web-0", tc.on), tc.in...))
			if answer.Message != tc.want {
				t.Errorf("message %q, want %q", answer.Message, tc.want)
			}
			var order []string
			for _, e := range answer.Evictors {
				order = append(order, e.Name)
			}
			if diff := cmp.Diff(tc.wantOrder, order); diff != "" {
				t.Errorf("evictors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingIsSaidOfWhatCouldNotBeRead(t *testing.T) {
	answer, lines := explained(t, evictionOf(web("web-0", "a", bare), func(in *EvictionSnapshot) {
		in.Missing = []string{"list poddisruptionbudgets: not permitted"}
		in.Undecided = map[string][]string{"descheduler": {"whether koord-descheduler runs is unknown"}}
		in.Unsure = map[string][]string{"drain": {"budgets are unknown"}, "descheduler": {"budgets are unknown"}}
	}))
	want := map[string]string{
		"descheduler": "unknown; unknown: whether koord-descheduler runs is unknown, and budgets are unknown",
		"drain":       "possible; needs: kubectl drain needs --force: no controller creates it again, and the node must be drained; unknown: budgets are unknown",
	}
	if diff := cmp.Diff(want, map[string]string{"descheduler": lines["descheduler"], "drain": lines["drain"]}); diff != "" {
		t.Errorf("evictors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"list poddisruptionbudgets: not permitted"}, answer.Incomplete); diff != "" {
		t.Errorf("incomplete (-want +got):\n%s", diff)
	}
}

func TestTheBudgetsOfAPodAreListed(t *testing.T) {
	in := evictionOf(web("web-0", "a"), withBudgets(budgetOf("web", 1), budgetOf("db", 0)))
	answer, _ := explained(t, in)
	if diff := cmp.Diff([]diagnosticsv1alpha1.PodBudget{{Name: "web-budget", DisruptionsAllowed: 1, CurrentHealthy: 3, DesiredHealthy: 2}}, answer.Budgets); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
	want := metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: types.UID("web-0")}
	if diff := cmp.Diff(want, answer.ObjectMeta); diff != "" || answer.NodeName != "a" || answer.Kind != "EvictionExplanation" {
		t.Errorf("%s on %q (-want +got):\n%s", answer.Kind, answer.NodeName, diff)
	}
}

func TestArgumentsThatCannotBeReadAreAnError(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*migration.Args)
		want string
	}{
		"a label selector": {func(a *migration.Args) {
			a.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Is"}}}
		}, "arguments of MigrationController: labelSelector: "},
		"a node selector": {func(a *migration.Args) { a.NodeSelector = "pool in (" }, "arguments of MigrationController: nodeSelector: "},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := ExplainEviction(evictionOf(web("web-0", "a"), evicting(tc.edit)))
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || answer != nil {
				t.Errorf("answer %v, error %v, want %q", answer, err, tc.want)
			}
		})
	}
}

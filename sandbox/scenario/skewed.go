package scenario

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"koordinator.sh/koord/api/extension"
)

// skewedServices share the replicas of the scenario.
var skewedServices = []string{"checkout", "frontend", "payments"}

// skewed is a cluster that got most of its nodes late: its services were bound to the few that were there, have grown since to one and a
// half times what they request, and use more of those nodes than koord-descheduler's high thresholds. The other nodes are idle.
func skewed(nodes int) []Wave {
	crowded := Crowded(nodes)
	services := Wave{OnlyOn: crowded, Namespace: shop, AwaitBound: "app in (checkout, frontend, payments)"}
	total := skewedReplicas(len(crowded))
	for i, name := range skewedServices {
		t := service(name, extension.QoSLS, 2000, 4)
		t.annotations = map[string]string{ProfileAnnotation: "hot", CPUPercentAnnotation: "150", AgeAnnotation: "24h"}
		replicas := total / len(skewedServices)
		if i < total%len(skewedServices) {
			replicas++
		}
		services.Objects = append(services.Objects, deployment(t, int32(replicas)), disruptionBudget(t))
	}
	return []Wave{{Objects: []runtime.Object{namespace(shop)}}, services}
}

// Crowded returns the names of the nodes that have the services of the skewed scenario: a quarter, and at least one.
func Crowded(nodes int) []string {
	var names []string
	for i := 1; i <= min(nodes, max(1, nodes/4)); i++ {
		names = append(names, NodeName(i))
	}
	return names
}

// skewedReplicas is how many pods make the first nodes hot, however koord-scheduler distributes them. Each uses 3 CPUs. Its
// LoadAwareScheduling, which estimates less for pods without measurements, binds up to 5 to a node with 16 CPUs and 11 to one with 32.
func skewedReplicas(crowded int) int {
	total := 0
	for i := range crowded {
		if machine := sizes[i%len(sizes)]; machine.cpu > 16 {
			total += 10
		} else {
			total += 4
		}
	}
	return total
}

// disruptionBudget allows one of the replicas to be away.
func disruptionBudget(t template) runtime.Object {
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{Name: t.name, Namespace: t.namespace, Labels: t.labels()},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)),
			Selector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": t.name}},
		},
	}
}

package source

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Kind declares one kind of object: how a command line writes it and where the API serves it. Kinds are compared as values.
type Kind struct {
	// Name is the singular, as kubectl takes it, such as pod.
	Name string
	// Plural is the resource in the API, such as pods.
	Plural string
	// Short is the short name, such as po; empty for a kind without one.
	Short string
	// API is the group, version and kind of the objects.
	API schema.GroupVersionKind
	// Namespaced is true for objects that live in namespaces.
	Namespaced bool
}

// String is the singular name.
func (k Kind) String() string { return k.Name }

// Resource is the singular name of the resource in the API.
func (k Kind) Resource() string { return strings.ToLower(k.API.Kind) }

// Many is the plural of the name, as a command line and its messages write it. The API may have another one.
func (k Kind) Many() string { return strings.TrimSuffix(k.Name, "s") + "s" }

// Words are all the ways in which a command line may write the kind, the singular first. The names of the resource are among them, where
// the command line has shorter ones.
func (k Kind) Words() []string {
	words := []string{k.Name, k.Plural}
	if k.Short != "" {
		words = append(words, k.Short)
	}
	if k.Resource() != k.Name {
		for _, word := range []string{k.Resource(), k.Many()} {
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

var (
	// KindNode is a Node.
	KindNode = Kind{Name: "node", Plural: "nodes", Short: "no", API: corev1.SchemeGroupVersion.WithKind("Node")}
	// KindPod is a Pod.
	KindPod = Kind{Name: "pod", Plural: "pods", Short: "po", API: corev1.SchemeGroupVersion.WithKind("Pod"), Namespaced: true}
	// KindNamespace is a Namespace.
	KindNamespace = Kind{Name: "namespace", Plural: "namespaces", Short: "ns", API: corev1.SchemeGroupVersion.WithKind("Namespace")}
	// KindReservation is a Reservation.
	KindReservation = Kind{Name: "reservation", Plural: "reservations", Short: "resv", API: schedulingv1alpha1.GroupVersion.WithKind("Reservation")}
	// KindMigration is a PodMigrationJob.
	KindMigration = Kind{Name: "migration", Plural: "podmigrationjobs", Short: "pmj", API: schedulingv1alpha1.GroupVersion.WithKind("PodMigrationJob")}
	// KindQuota is an ElasticQuota.
	KindQuota = Kind{
		Name: "quota", Plural: "elasticquotas", Short: "eq", API: schedulingsigsv1alpha1.GroupVersion.WithKind("ElasticQuota"), Namespaced: true,
	}
	// KindGang is a PodGroup, or a gang that its pods describe themselves.
	KindGang = Kind{Name: "gang", Plural: "podgroups", Short: "pg", API: schedulingsigsv1alpha1.GroupVersion.WithKind("PodGroup"), Namespaced: true}
	// KindDevice is the Device of a node, by whose name it goes.
	KindDevice = Kind{Name: "device", Plural: "devices", Short: "dev", API: schedulingv1alpha1.GroupVersion.WithKind("Device")}
	// KindDaemonSet is a DaemonSet.
	KindDaemonSet = Kind{Name: "daemonset", Plural: "daemonsets", Short: "ds", API: appsv1.SchemeGroupVersion.WithKind("DaemonSet"), Namespaced: true}
	// KindJob is a Job of Kubernetes.
	KindJob = Kind{Name: "job", Plural: "jobs", API: batchv1.SchemeGroupVersion.WithKind("Job"), Namespaced: true}
	// KindRecommendation is a Recommendation.
	KindRecommendation = Kind{
		Name: "recommendation", Plural: "recommendations", Short: "recom", API: analysisv1alpha1.GroupVersion.WithKind("Recommendation"), Namespaced: true,
	}
	// KindWorkers is ElasticWorkers.
	KindWorkers = Kind{
		Name: "workers", Plural: "elasticworkers", Short: "ew", API: schedulingv1alpha1.GroupVersion.WithKind("ElasticWorkers"), Namespaced: true,
	}
)

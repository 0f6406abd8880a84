package kubectl

import (
	"strings"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Object is one that a command is about.
type Object struct {
	// argument is how the type is written on the command line.
	argument                 string
	group, version, resource string
	namespace, name          string
}

// Pod of a namespace.
func Pod(namespace, name string) Object {
	return Object{argument: "pod", version: "v1", resource: "pods", namespace: namespace, name: name}
}

// Node by its name.
func Node(name string) Object {
	return Object{argument: "node", version: "v1", resource: "nodes", name: name}
}

// Deployment of a namespace.
func Deployment(namespace, name string) Object { return workload("deployment", namespace, name) }

// ReplicaSet of a namespace.
func ReplicaSet(namespace, name string) Object { return workload("replicaset", namespace, name) }

// StatefulSet of a namespace.
func StatefulSet(namespace, name string) Object { return workload("statefulset", namespace, name) }

func workload(argument, namespace, name string) Object {
	return Object{argument: argument, group: "apps", version: "v1", resource: argument + "s", namespace: namespace, name: name}
}

// ElasticQuota of a namespace.
func ElasticQuota(namespace, name string) Object {
	version := schedulingsigsv1alpha1.GroupVersion
	return Object{argument: "elasticquota", group: version.Group, version: version.Version, resource: "elasticquotas", namespace: namespace, name: name}
}

// PodGroup of a namespace. Other projects have PodGroups, too, so that the type is written with its API group.
func PodGroup(namespace, name string) Object {
	version := schedulingsigsv1alpha1.GroupVersion
	return Object{
		argument: "podgroups." + version.Group, group: version.Group, version: version.Version, resource: "podgroups",
		namespace: namespace, name: name,
	}
}

// Reservation by its name.
func Reservation(name string) Object {
	version := schedulingv1alpha1.GroupVersion
	return Object{argument: "reservation", group: version.Group, version: version.Version, resource: "reservations", name: name}
}

// words are a command's verb and its object.
func (o Object) words(verb string) []string {
	words := []string{"kubectl", verb, o.argument}
	if o.namespace != "" {
		words = append(words, "-n", o.namespace)
	}
	return append(words, o.name)
}

// Quote writes a word for a POSIX shell.
func Quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

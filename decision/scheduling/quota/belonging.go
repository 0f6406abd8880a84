package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Belonging finds the quota of a pod. It is safe for concurrent use.
type Belonging struct {
	// namesakes and listed tell the quota of a namespace: the one with its name in it, or the one that lists it.
	namesakes, listed map[string]string
}

// BelongingTo finds the quotas of pods where there are those quotas, in any order. The root is no quota for pods.
func BelongingTo(specs []*Spec) Belonging {
	b := Belonging{namesakes: map[string]string{}, listed: map[string]string{}}
	for _, spec := range specs {
		if spec.Name == extension.RootQuotaName {
			continue
		}
		if spec.namesake() {
			b.namesakes[spec.Namespace] = spec.Name
		}
		for _, namespace := range spec.Namespaces {
			if first, claimed := b.listed[namespace]; !claimed || spec.Name < first {
				b.listed[namespace] = spec.Name
			}
		}
	}
	return b
}

// Name is the quota that a pod asks for: the one that its label names, whether there is one or not, or else that of its
// namespace; "" when nothing says.
func (b Belonging) Name(pod *corev1.Pod) string {
	if name := pod.Labels[extension.LabelQuotaName]; name != "" {
		return name
	}
	return b.OfNamespace(pod.Namespace)
}

// OfNamespace is the quota of the pods of a namespace that name none: the one with the name of the namespace in it, or else
// the one that lists it; "" without both.
func (b Belonging) OfNamespace(namespace string) string {
	if name := b.namesakes[namespace]; name != "" {
		return name
	}
	return b.listed[namespace]
}

// Rule says by what a pod belongs to its quota.
type Rule string

const (
	// ByLabel is the label of the pod.
	ByLabel Rule = "Label"
	// ByNamespaceName is the quota with the name of the pod's namespace in it.
	ByNamespaceName Rule = "NamespaceName"
	// ByNamespaceList is the quota whose annotation lists the pod's namespace.
	ByNamespaceList Rule = "NamespaceList"
	// ByDefault is the default quota of pods for which nothing says which.
	ByDefault Rule = "Default"
	// ByDefaultForMissing is the default quota of pods that ask for one that does not exist.
	ByDefaultForMissing Rule = "DefaultForMissing"
)

// Of is the quota that a pod counts against: the one that it asks for, or the default quota when it asks for none or exists
// says that there is none of that name.
func (b Belonging) Of(pod *corev1.Pod, exists func(name string) bool) string {
	name, _ := b.Rule(pod, exists)
	return name
}

// Rule is Of with what the pod belongs to its quota by.
func (b Belonging) Rule(pod *corev1.Pod, exists func(name string) bool) (string, Rule) {
	name := b.Name(pod)
	switch {
	case name == "":
		return extension.DefaultQuotaName, ByDefault
	case !exists(name):
		return extension.DefaultQuotaName, ByDefaultForMissing
	case pod.Labels[extension.LabelQuotaName] != "":
		return name, ByLabel
	case b.namesakes[pod.Namespace] != "":
		return name, ByNamespaceName
	}
	return name, ByNamespaceList
}

// Claims are the namespaces whose pods belong to an ElasticQuota when they name none, sorted; another may have the better
// claim. An annotation that cannot be read counts as absent.
func Claims(object *schedulingsigsv1alpha1.ElasticQuota) []string {
	if object.Name == extension.RootQuotaName {
		return nil
	}
	d := decoder{spec: Spec{Namespace: object.Namespace, Name: object.Name}}
	d.namespaces(object)
	claims := d.spec.Namespaces
	if at, found := slices.BinarySearch(claims, object.Namespace); !found && d.spec.namesake() {
		claims = slices.Insert(claims, at, object.Namespace)
	}
	return claims
}

// Serves reports whether pods of a namespace may name the quota, regardless of who creates them: it lives there, it lists the namespace, or it is one of
// those that always exist.
func (s *Spec) Serves(namespace string) bool {
	return s.Namespace == namespace || slices.Contains(s.Namespaces, namespace) || extension.IsBuiltInQuota(s.Name)
}

func (s *Spec) namesake() bool { return s.Name == s.Namespace }

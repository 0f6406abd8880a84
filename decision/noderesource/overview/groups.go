package overview

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Group says by what pods are put into rows.
type Group string

// The groups that there are, beside those of labels.
const (
	GroupWorkload  Group = "workload"
	GroupNamespace Group = "namespace"
	GroupNode      Group = "node"
	GroupBand      Group = "band"
	GroupQoS       Group = "qos"
	GroupTier      Group = "tier"
	// labelGroup comes before the key of a label.
	labelGroup = "label:"
)

// Groups are all groups but those of labels, in the order in which help lists them.
func Groups() []Group {
	return []Group{GroupWorkload, GroupNamespace, GroupNode, GroupBand, GroupQoS, GroupTier}
}

// ParseGroup reads the word of a group; label:KEY is that of a label.
func ParseGroup(word string) (Group, error) {
	for _, group := range Groups() {
		if word == string(group) {
			return group, nil
		}
	}
	if key, is := strings.CutPrefix(word, labelGroup); is && key != "" {
		return Group(word), nil
	}
	words := make([]string, 0, len(Groups())+1)
	for _, group := range Groups() {
		words = append(words, string(group))
	}
	return "", fmt.Errorf("group %q: must be %s or %sKEY", word, strings.Join(words, ", "), labelGroup)
}

// of is the value of a group for a pod; <none> where the pod has none.
func (g Group) of(pod *corev1.Pod, owner metav1.OwnerReference) string {
	value := ""
	switch g {
	case GroupWorkload:
		value = strings.ToLower(owner.Kind) + "/" + owner.Name
	case GroupNamespace:
		value = pod.Namespace
	case GroupNode:
		value = pod.Spec.NodeName
	case GroupBand:
		value = string(podrequest.Of(pod).Band)
	case GroupQoS:
		value = string(podrequest.Of(pod).QoS)
	case GroupTier:
		value = string(podrequest.Of(pod).Tier())
	default:
		value = pod.Labels[strings.TrimPrefix(string(g), labelGroup)]
	}
	if value == "" {
		return "<none>"
	}
	return value
}

// rowOf is the row of a pod, which is added when there is none. Workloads of different namespaces have rows of their own.
func rowOf(rows map[string]*diagnosticsv1alpha1.WorkloadOverview, groups []Group, pod *corev1.Pod, owner metav1.OwnerReference) *diagnosticsv1alpha1.WorkloadOverview {
	if len(groups) == 0 {
		groups = []Group{GroupWorkload}
	}
	namespace, values := "", make([]string, 0, len(groups))
	for _, group := range groups {
		if group == GroupWorkload || group == GroupNamespace && len(groups) > 1 {
			namespace = pod.Namespace // which has a column of its own
		}
		if group != GroupNamespace || len(groups) == 1 {
			values = append(values, group.of(pod, owner))
		}
	}
	name := strings.Join(values, ",")
	key := namespace + "\x00" + strings.Join(values, "\x00")
	row := rows[key]
	if row == nil {
		row = &diagnosticsv1alpha1.WorkloadOverview{TypeMeta: typeMeta("WorkloadOverview"), ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if len(groups) == 1 && groups[0] == GroupWorkload {
			row.Workload = &diagnosticsv1alpha1.SourceRef{Kind: owner.Kind, Namespace: pod.Namespace, Name: owner.Name}
		}
		rows[key] = row
	}
	return row
}

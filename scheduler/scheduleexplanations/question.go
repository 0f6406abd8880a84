package scheduleexplanations

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

var (
	errTemplate = errors.New("spec.questionObjectTemplate is not supported: remove it, and name a pod, job or gang in spec.questionObjectKey")
	errNoKey    = errors.New("spec.questionObjectKey is empty: it takes namespace/name of a pod, job or gang")
)

// subjectsOf returns what an object asks about: one name of a pod, job or gang, or the names of a gang group's gangs,
// which are joined by commas. A name without a namespace is in the object's own. The error is for the user.
//
// An answer reveals other users' pods. So objects may ask about their own namespace only, except those in the system namespace,
// which administrators write.
func subjectsOf(object *schedulingv1alpha1.ScheduleExplanation, systemNamespace string) ([]types.NamespacedName, error) {
	if object.Spec.QuestionObjectTemplate != nil {
		return nil, errTemplate
	}
	if strings.TrimSpace(object.Spec.QuestionObjectKey) == "" {
		return nil, errNoKey
	}
	var subjects []types.NamespacedName
	for part := range strings.SplitSeq(object.Spec.QuestionObjectKey, ",") {
		subject, err := parseSubject(strings.TrimSpace(part), object.Namespace)
		if err != nil {
			return nil, err
		}
		if subject.Namespace != object.Namespace && object.Namespace != systemNamespace {
			return nil, fmt.Errorf("spec.questionObjectKey names namespace %q: create the ScheduleExplanation there, next to what it asks about", subject.Namespace)
		}
		subjects = append(subjects, subject)
	}
	return subjects, nil
}

func parseSubject(key, namespace string) (types.NamespacedName, error) {
	subject := types.NamespacedName{Namespace: namespace, Name: key}
	if before, after, found := strings.Cut(key, "/"); found {
		subject = types.NamespacedName{Namespace: before, Name: after}
	}
	if subject.Namespace == "" || subject.Name == "" || strings.Contains(subject.Name, "/") {
		return subject, fmt.Errorf("spec.questionObjectKey has %.80q, which is not namespace/name", key)
	}
	return subject, nil
}

// namesOf lists the subjects that a pod belongs to: itself, its gang, its job, and what its label says.
func namesOf(pod *corev1.Pod) []types.NamespacedName {
	names := []types.NamespacedName{{Namespace: pod.Namespace, Name: pod.Name}}
	add := func(name string) {
		if name != "" {
			names = append(names, types.NamespacedName{Namespace: pod.Namespace, Name: name})
		}
	}
	add(extension.GangName(pod))
	add(pod.Labels[extension.LabelQuestionedObjectKey])
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && owner.Kind == "Job" && strings.HasPrefix(owner.APIVersion, batchv1.GroupName+"/") {
		add(owner.Name)
	}
	return names
}

// belongs is true when a pod is a member of one of the subjects.
func belongs(pod *corev1.Pod, subjects []types.NamespacedName) bool {
	if !slices.ContainsFunc(subjects, func(s types.NamespacedName) bool { return s.Namespace == pod.Namespace }) {
		return false
	}
	return slices.ContainsFunc(namesOf(pod), func(name types.NamespacedName) bool { return slices.Contains(subjects, name) })
}

// topologyKeyOf returns the node label by whose values the answer is split, empty for an answer for the whole cluster.
// The object goes before its pods. Label values cannot hold the slash that most keys of topology labels have; an
// annotation of the same name can.
func topologyKeyOf(object *schedulingv1alpha1.ScheduleExplanation, pods []*corev1.Pod) string {
	holders := []metav1.Object{object}
	for _, pod := range pods {
		holders = append(holders, pod)
	}
	for _, holder := range holders {
		for _, values := range []map[string]string{holder.GetLabels(), holder.GetAnnotations()} {
			if key := values[extension.LabelTopologyKeyToExplain]; key != "" {
				return key
			}
		}
	}
	return ""
}

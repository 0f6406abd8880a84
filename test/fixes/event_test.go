package fixes

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// agree holds what the scheduler wrote to the blocked pod against its explanation: each reason of the one is a reason of the other,
// for at least as many nodes, since the scheduler stops at the first plugin that refuses a node. What the scheduler wrote may be older
// than the usage that is explained: until both agree, it is made to try the pod again.
func agree(t *testing.T, namespace string) {
	t.Helper()
	tries := 0
	sandboxtest.Eventually(t, patience, func() error {
		pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), asked, metav1.GetOptions{})
		if err != nil {
			return err
		}
		at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
		if at < 0 {
			return fmt.Errorf("pod %s has no condition %s", asked, corev1.PodScheduled)
		}
		answer := explained(t, namespace)
		if err = disagreement(pod.Status.Conditions[at].Message, &answer.Status); err != nil {
			tries++
			mustRun(t, "", fmt.Sprintf("kubectl annotate pod -n %s %s --overwrite try=%d", namespace, asked, tries))
		}
		return err
	})
}

// summaries begins what the scheduler writes when no node is for a pod; what preemption found comes after the reasons.
var (
	summaries = regexp.MustCompile(`^0/(\d+) nodes are available: (.*?)\.?(?: no new claims to deallocate,| preemption: |$)`)
	counted   = regexp.MustCompile(`^(\d+) (.+)$`)
)

func disagreement(written string, told *diagnosticsv1alpha1.PodExplanationStatus) error {
	match := summaries.FindStringSubmatch(written)
	if match == nil {
		return fmt.Errorf("unexpected message %q", written)
	}
	if match[1] != strconv.Itoa(int(told.NodesTotal)) {
		return fmt.Errorf("%d nodes are explained: %s", told.NodesTotal, written)
	}
	list := strings.TrimSuffix(strings.TrimSpace(match[2]), ".")
	if !counted.MatchString(list) { // refused before any node was looked at
		for _, group := range told.Groups {
			if strings.Contains(list, group.Reason) {
				return nil
			}
		}
		return fmt.Errorf("not explained: %s", list)
	}
	for list != "" {
		number := counted.FindStringSubmatch(list)
		if number == nil {
			return fmt.Errorf("unexpected reasons %q in %q", list, written)
		}
		nodes, _ := strconv.Atoi(number[1])
		group := longest(told.Groups, number[2])
		if group == nil || int(group.Count) < nodes {
			return fmt.Errorf("not explained for %d nodes: %s; explained are %+v", nodes, number[2], told.Groups)
		}
		list = strings.TrimPrefix(strings.TrimPrefix(number[2], group.Reason), ", ")
	}
	return nil
}

// longest is the group whose reason a text begins with; reasons may have commas.
func longest(groups []diagnosticsv1alpha1.RefusalGroup, text string) *diagnosticsv1alpha1.RefusalGroup {
	var found []*diagnosticsv1alpha1.RefusalGroup
	for i := range groups {
		if strings.HasPrefix(text, groups[i].Reason) {
			found = append(found, &groups[i])
		}
	}
	if len(found) == 0 {
		return nil
	}
	return slices.MaxFunc(found, func(a, b *diagnosticsv1alpha1.RefusalGroup) int { return cmp.Compare(len(a.Reason), len(b.Reason)) })
}

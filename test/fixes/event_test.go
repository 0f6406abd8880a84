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

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// agree holds what the scheduler wrote to the blocked pod against its explanation, in both directions. What the scheduler wrote may be
// older than what is explained: until both agree, it is made to try the pod again.
func (s scene) agree(t *testing.T) {
	t.Helper()
	tries := 0
	sandboxtest.Eventually(t, patience, func() error {
		pod, err := s.asked(t)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
		if at < 0 {
			return fmt.Errorf("pod %s has no condition %s", pod.Name, corev1.PodScheduled)
		}
		written := pod.Status.Conditions[at].Message
		if err = disagreement(written, &explained(t, s.namespace, pod.Name).Status); err != nil {
			tries++
			mustRun(t, "", fmt.Sprintf("kubectl annotate pod -n %s %s --overwrite try=%d", s.namespace, pod.Name, tries))
			return fmt.Errorf("%w\nwritten: %s", err, written)
		}
		return nil
	})
}

var (
	summaries    = regexp.MustCompile(`^0/(\d+) nodes are available: (.*)$`)
	counted      = regexp.MustCompile(`^(\d+) (.+)$`)
	reservations = regexp.MustCompile(`(\d+) Reservation\(s\) (matched owner total|[^,]+)`)
	// rejections are what a member that finds no node means for the others of its gang.
	rejections = regexp.MustCompile(`GangGroup "[^"]+" gets rejected due to member Pod "[^"]+" is unschedulable with reason "(.*)", alreadyWaitForBound: \d+`)
)

// disagreement says what the one has and the other has not: each reason with its number of nodes, and each reason with its number of
// reservations.
func disagreement(written string, told *diagnosticsv1alpha1.PodExplanationStatus) error {
	match := summaries.FindStringSubmatch(written)
	if match == nil {
		return fmt.Errorf("unexpected message %q", written)
	}
	if match[1] != strconv.Itoa(int(told.NodesTotal)) {
		return fmt.Errorf("%d nodes are explained: %s", told.NodesTotal, written)
	}
	refused, rest, err := refusals(match[2], told)
	if err != nil {
		return err
	}
	if others := rejections.FindStringSubmatch(rest); others != nil {
		if others[1]+rest != written {
			return fmt.Errorf("the others are told of another reason: %s", others[1])
		}
		if slices.ContainsFunc(told.Groups, func(g diagnosticsv1alpha1.RefusalGroup) bool { return strings.Contains(rest, g.Reason) }) {
			return reservationsDisagree(rest, told.Reservations) // explained as it is for the others: with all numbers in it
		}
	}
	for i := range told.Groups {
		// A node that several groups refuse counts in the message for the plugin that comes first.
		group, nodes := &told.Groups[i], refused[told.Groups[i].Reason]
		if nodes > sum(told.Groups, group.Reason, func(g *diagnosticsv1alpha1.RefusalGroup) int32 { return g.Count }) {
			return fmt.Errorf("not explained for %d nodes: %s; explained are %+v", nodes, group.Reason, told.Groups)
		}
		if nodes < sum(told.Groups, group.Reason, func(g *diagnosticsv1alpha1.RefusalGroup) int32 { return g.Sole }) {
			return fmt.Errorf("explained as the only reason for %d nodes and written of %d: %s", group.Sole, nodes, group.Reason)
		}
	}
	return reservationsDisagree(rest, told.Reservations)
}

// sum over the groups of a reason: two taints, say, have the same text.
func sum(groups []diagnosticsv1alpha1.RefusalGroup, reason string, of func(*diagnosticsv1alpha1.RefusalGroup) int32) int32 {
	total := int32(0)
	for i := range groups {
		if groups[i].Reason == reason {
			total += of(&groups[i])
		}
	}
	return total
}

// refusals reads how many nodes each reason refuses, up to what PostFilter plugins say after that.
func refusals(text string, told *diagnosticsv1alpha1.PodExplanationStatus) (nodes map[string]int32, rest string, err error) {
	nodes = map[string]int32{}
	if group := longest(told.Groups, text); group != nil { // refused before any node was looked at
		if group.Count != told.NodesTotal {
			return nil, "", fmt.Errorf("explained of %d nodes, and written of all: %s", group.Count, group.Reason)
		}
		nodes[group.Reason] = told.NodesTotal
		return nodes, strings.TrimPrefix(strings.TrimPrefix(text, group.Reason), "."), nil // what else refuses all nodes is not written
	}
	introductions := map[string]int32{}
	for i := range told.Groups {
		if text := told.Groups[i].Introduction; text != "" {
			introductions[text] += told.Groups[i].Count
		}
	}
	for {
		number := counted.FindStringSubmatch(text)
		if number == nil {
			return nil, "", fmt.Errorf("not explained: %s; explained are %+v", text, told.Groups)
		}
		count, _ := strconv.ParseInt(number[1], 10, 32)
		group := longest(told.Groups, number[2])
		if group == nil {
			group = introduced(introductions, number[2], int32(count))
		}
		if group == nil {
			return nil, "", fmt.Errorf("not explained: %s; explained are %+v", number[2], told.Groups)
		}
		nodes[group.Reason] = int32(count)
		text = strings.TrimPrefix(number[2], group.Reason)
		next, more := strings.CutPrefix(text, ", ")
		if !more {
			return nodes, strings.TrimPrefix(text, "."), nil
		}
		text = next
	}
}

// introduced stands for groups with an introduction that a text begins with, if they have as many nodes.
func introduced(introductions map[string]int32, text string, nodes int32) *diagnosticsv1alpha1.RefusalGroup {
	for introduction, count := range introductions {
		if strings.HasPrefix(text, introduction) && nodes <= count {
			return &diagnosticsv1alpha1.RefusalGroup{Reason: introduction}
		}
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

// reservationsDisagree compares the reservations that the pod is an owner of.
func reservationsDisagree(written string, told *diagnosticsv1alpha1.ReservationCensus) error {
	want, got := map[string]string{}, map[string]string{}
	for _, match := range reservations.FindAllStringSubmatch(written, -1) {
		want[strings.TrimSuffix(match[2], ".")] = match[1]
	}
	if told != nil {
		got["matched owner total"] = strconv.Itoa(int(told.Matched))
		for _, of := range told.Refusals {
			got[of.Reason] = strconv.Itoa(int(of.Count))
		}
	}
	if fmt.Sprint(want) != fmt.Sprint(got) {
		return fmt.Errorf("reservations are written as %v and explained as %v", want, got)
	}
	return nil
}

package objects

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
)

// generated are the letters of the names that Kubernetes generates.
const generated = "[bcdfghjklmnpqrstvwxz2456789]+"

// namesBelow are the names of what the controllers of Kubernetes create for a workload, by its kind and that of what is below it. By their
// names, pods that do not exist anymore are told too.
var namesBelow = map[string]map[string]string{
	"Deployment":  {"ReplicaSet": "-" + generated, "Pod": "-" + generated + "-" + generated},
	"ReplicaSet":  {"Pod": "-" + generated},
	"DaemonSet":   {"Pod": "-" + generated},
	"Job":         {"Pod": "(-[0-9]+)?-" + generated},
	"StatefulSet": {"Pod": "-[0-9]+"},
}

// EventsBelow keeps the events about what is below a workload or a gang: about the pods that are given, and about what has a name that the
// workload gives.
func EventsBelow(kind, name string, pods []corev1.Pod, events []corev1.Event) []corev1.Event {
	known := make(map[string]bool, len(pods))
	for i := range pods {
		known[pods[i].Name] = true
	}
	forms := map[string]*regexp.Regexp{}
	for below, form := range namesBelow[kind] {
		forms[below] = regexp.MustCompile("^" + regexp.QuoteMeta(name) + form + "$")
	}
	return slices.DeleteFunc(slices.Clone(events), func(event corev1.Event) bool {
		about := &event.InvolvedObject
		if about.Kind == "Pod" && known[about.Name] {
			return false
		}
		form := forms[about.Kind]
		return form == nil || !form.MatchString(about.Name)
	})
}

// ReasonQuotaOverused is the reason of the event about a pod that had to leave because its quota used more than its runtime. It is looked
// up where it is asked for: reading the catalogue takes longer than most commands have.
func ReasonQuotaOverused() string { return finding.QuotaOverused.Name() }

// EventsOfQuota keeps the events about pods that left for a quota.
func EventsOfQuota(name string, events []corev1.Event) []corev1.Event {
	return slices.DeleteFunc(slices.Clone(events), func(event corev1.Event) bool {
		return !strings.Contains(event.Message, ": quota "+name+" uses more than its runtime")
	})
}

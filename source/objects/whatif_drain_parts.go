package objects

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/descheduling/drain"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// requestsOf are the requests of a pod as the scheduler counts them, in the unit of each resource.
func requestsOf(pod *corev1.Pod) map[corev1.ResourceName]int64 {
	out := map[corev1.ResourceName]int64{}
	for name, quantity := range resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{UseStatusResources: true}) {
		out[name] = amount.Of(name, quantity)
	}
	return out
}

// forecastAmounts lists amounts that are not zero, ordered by resource.
func forecastAmounts(of map[corev1.ResourceName]int64) []diagnosticsv1alpha1.ForecastAmount {
	var out []diagnosticsv1alpha1.ForecastAmount
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if of[name] != 0 {
			out = append(out, diagnosticsv1alpha1.ForecastAmount{Resource: string(name), Amount: of[name], Unit: amount.UnitOf(name)})
		}
	}
	return out
}

func add(to, what map[corev1.ResourceName]int64) {
	for name, value := range what {
		to[name] += value
	}
}

func (d *Drain) nodes() {
	for i := range d.in.Nodes {
		node := &d.in.Nodes[i]
		if !slices.Contains(d.in.Drained, node.Name) {
			continue
		}
		row := diagnosticsv1alpha1.DrainedNode{Name: node.Name, Unschedulable: node.Spec.Unschedulable}
		for j := range d.answer.Pods {
			if pod := &d.answer.Pods[j]; pod.Node == node.Name {
				row.Pods++
				if pod.Round > 0 {
					row.Evicted++
				}
			}
		}
		d.answer.Nodes = append(d.answer.Nodes, row)
	}
	slices.SortFunc(d.answer.Nodes, func(a, b diagnosticsv1alpha1.DrainedNode) int { return strings.Compare(a.Name, b.Name) })
}

func (d *Drain) budgets(budgets []drain.Budget) {
	for _, budget := range budgets {
		status := budget.Status
		d.answer.Budgets = append(d.answer.Budgets, diagnosticsv1alpha1.DrainBudget{
			Namespace: budget.Namespace, Name: budget.Name, DisruptionsAllowed: status.DisruptionsAllowed, CurrentHealthy: status.CurrentHealthy,
			DesiredHealthy: status.DesiredHealthy, ExpectedPods: status.ExpectedPods,
			Pods: int32(budget.Pods), Blocked: int32(budget.Blocked), Rounds: int32(budget.Rounds), Message: budget.Message,
		})
	}
	slices.SortFunc(d.answer.Budgets, func(a, b diagnosticsv1alpha1.DrainBudget) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}

// returning are the pods that leave and come back, which the budgets do not block.
func (d *Drain) returning(visit func(selected *drain.Selected, pod *diagnosticsv1alpha1.DrainedPod)) {
	for i := range d.answer.Pods {
		if pod := &d.answer.Pods[i]; pod.Round > 0 && drain.Returns(d.selected[i].Pod) {
			visit(&d.selected[i], pod)
		}
	}
}

func (d *Drain) gangs() {
	members := map[string]int32{}
	for i := range d.in.Pods {
		if pod := &d.in.Pods[i]; !podstate.Ended(pod) && extension.GangName(pod) != "" {
			members[pod.Namespace+"/"+extension.GangName(pod)]++
		}
	}
	rows := map[string]*diagnosticsv1alpha1.DrainGang{}
	d.returning(func(selected *drain.Selected, pod *diagnosticsv1alpha1.DrainedPod) {
		name := extension.GangName(selected.Pod)
		if name == "" {
			return
		}
		key := pod.Namespace + "/" + name
		if rows[key] == nil {
			rows[key] = &diagnosticsv1alpha1.DrainGang{Namespace: pod.Namespace, Name: name, Members: members[key], MinMember: d.minMember(selected.Pod, name)}
		}
		rows[key].Leaving++
		if pod.Place == diagnosticsv1alpha1.DrainPlaceNone {
			rows[key].Unplaced++
		}
	})
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		rows[key].Message = gangMessage(rows[key])
		d.answer.Gangs = append(d.answer.Gangs, *rows[key])
	}
}

// minMember is that of the PodGroup, or else of the pod's annotation.
func (d *Drain) minMember(pod *corev1.Pod, name string) *int32 {
	for i := range d.in.Groups {
		if group := &d.in.Groups[i]; group.Namespace == pod.Namespace && group.Name == name {
			return &group.Spec.MinMember
		}
	}
	if least, err := extension.GangMinAvailable(pod); err == nil && least > 0 {
		return &least
	}
	return nil
}

func gangMessage(gang *diagnosticsv1alpha1.DrainGang) string {
	switch {
	case gang.MinMember == nil:
		return fmt.Sprintf("%d of %d members leave; how many it needs is unknown", gang.Leaving, gang.Members)
	case gang.Unplaced > 0 && gang.Members-gang.Unplaced < *gang.MinMember:
		return fmt.Sprintf("%d of %d members get no node: fewer than minMember %d remain", gang.Unplaced, gang.Members, *gang.MinMember)
	case gang.Members < *gang.MinMember:
		return fmt.Sprintf("fewer than minMember %d run already: %s", *gang.MinMember, phrase.Counted(int(gang.Members), "member"))
	case gang.Members-gang.Leaving < *gang.MinMember:
		return fmt.Sprintf("fewer than minMember %d run until the replacements of %s are ready", *gang.MinMember, phrase.Counted(int(gang.Leaving), "member"))
	}
	return fmt.Sprintf("minMember %d keep running", *gang.MinMember)
}

func (d *Drain) quotas() {
	specs := make([]*quota.Spec, len(d.in.Quotas))
	for i := range d.in.Quotas {
		spec, _ := quota.Decode(&d.in.Quotas[i])
		specs[i] = &spec
	}
	belonging := quota.BelongingTo(specs)
	rows, requests := map[string]*diagnosticsv1alpha1.DrainQuota{}, map[string]map[corev1.ResourceName]int64{}
	d.returning(func(selected *drain.Selected, pod *diagnosticsv1alpha1.DrainedPod) {
		name := belonging.Name(selected.Pod)
		if name == "" {
			return
		}
		if rows[name] == nil {
			rows[name], requests[name] = &diagnosticsv1alpha1.DrainQuota{Name: name, Overused: d.overused(name)}, map[corev1.ResourceName]int64{}
		}
		rows[name].Leaving++
		if pod.Place == diagnosticsv1alpha1.DrainPlaceNone {
			rows[name].Unplaced++
		}
		add(requests[name], requestsOf(selected.Pod))
	})
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		rows[name].Requests = forecastAmounts(requests[name])
		d.answer.Quotas = append(d.answer.Quotas, *rows[name])
	}
}

// overused are the resources of which a quota uses more than its runtime, as the quota reports both.
func (d *Drain) overused(name string) []string {
	var out []string
	for i := range d.in.Quotas {
		object := &d.in.Quotas[i]
		var runtime corev1.ResourceList
		if object.Name != name || json.Unmarshal([]byte(object.Annotations[extension.AnnotationQuotaRuntime]), &runtime) != nil {
			continue
		}
		for _, over := range quota.Overused(quota.AmountsOf(object.Status.Used), quota.AmountsOf(runtime)) {
			out = append(out, string(over.Resource))
		}
	}
	slices.Sort(out)
	return out
}

func (d *Drain) reservations() {
	for i := range d.in.Reservations {
		r := &d.in.Reservations[i]
		if r.Status.Phase != schedulingv1alpha1.ReservationAvailable || !slices.Contains(d.in.Drained, r.Status.NodeName) {
			continue
		}
		row := diagnosticsv1alpha1.DrainReservation{Name: r.Name, Node: r.Status.NodeName}
		reserved := map[corev1.ResourceName]int64{}
		for name, quantity := range r.Status.Allocatable {
			reserved[name] = amount.Of(name, quantity)
		}
		row.Reserved = forecastAmounts(reserved)
		for j := range d.answer.Pods {
			held, err := extension.GetReservationAllocated(d.selected[j].Pod.Annotations)
			if d.answer.Pods[j].Round > 0 && err == nil && held != nil && held.Name == r.Name && held.UID == r.UID {
				row.Leaving++
			}
		}
		d.answer.Reservations = append(d.answer.Reservations, row)
	}
	slices.SortFunc(d.answer.Reservations, func(a, b diagnosticsv1alpha1.DrainReservation) int { return strings.Compare(a.Name, b.Name) })
}

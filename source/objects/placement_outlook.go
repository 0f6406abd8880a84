package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/noderesource/outlook"
)

// OutlookQuestion is about which nodes, and which resources of them by their short names, has to be asked to say for how long the copies of
// a forecast keep what they request; no nodes where the copies request neither batch nor mid resources, or none gets a node.
func OutlookQuestion(in *PlacementSnapshot, forecast *diagnosticsv1alpha1.PlacementForecast) (nodes, resources []string) {
	if in.Copied == nil || forecast.Copies == nil || forecast.Copies.Placed == 0 {
		return nil, nil
	}
	requests := requestsOf(in.Copied)
	for _, name := range []corev1.ResourceName{extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory} {
		if requests[name] > 0 {
			resources = append(resources, amount.ShortName(name))
		}
	}
	if len(resources) == 0 {
		return nil, nil
	}
	for _, node := range forecast.Copies.Nodes {
		if exists(in.Nodes, node.Name) {
			nodes = append(nodes, node.Name)
		}
	}
	return nodes, resources
}

func exists(nodes []corev1.Node, name string) bool {
	return slices.ContainsFunc(nodes, func(node corev1.Node) bool { return node.Name == name })
}

// OutlookOfCopies adds to a forecast for how long its copies keep what they request, by what the nodes answered. Problem says why they did
// not; empty when they did.
func OutlookOfCopies(in *PlacementSnapshot, forecast *diagnosticsv1alpha1.PlacementForecast, answers []diagnosticsv1alpha1.NodeExplanation, problem string) {
	byNode := make(map[string]*diagnosticsv1alpha1.NodeExplanationStatus, len(answers))
	for i := range answers {
		byNode[answers[i].Spec.NodeName] = &answers[i].Status
	}
	for i := range answers {
		for _, what := range answers[i].Status.Incomplete {
			if !slices.Contains(forecast.Incomplete, what) {
				forecast.Incomplete = append(forecast.Incomplete, what)
			}
		}
	}
	taken := takenByWaiting(in, forecast)
	question := outlook.Input{Requests: byName(requestsOf(in.Copied))}
	for _, on := range forecast.Copies.Nodes {
		node := outlook.Node{Name: on.Name, Copies: on.Copies, Taken: taken[on.Name]}
		switch answer := byNode[on.Name]; {
		case !exists(in.Nodes, on.Name):
			node.Problem = "the node does not exist yet"
		case problem != "":
			node.Problem = problem
		case answer == nil || len(answer.Outlook) == 0:
			node.Problem = "koord-manager does not predict what nodes will offer: it may be of an earlier version"
		default:
			node.Offers = answer.Outlook
		}
		question.Nodes = append(question.Nodes, node)
	}
	if forecast.Outlook = outlook.Decide(question); forecast.Outlook == nil {
		return
	}
	forecast.Notes = append(forecast.Notes, "pods are not moved when their node offers less than they request: koordlet limits their CPU, and evicts them where evictions are enabled")
	partial := func(node diagnosticsv1alpha1.CopiesOutlookNode) bool {
		return slices.ContainsFunc(node.Offers, func(offer diagnosticsv1alpha1.OfferOutlook) bool { return offer.Partial })
	}
	if slices.ContainsFunc(forecast.Outlook.Nodes, partial) {
		forecast.Notes = append(forecast.Notes, "some nodes have been observed for less than their predictors read: peaks that did not come in that time are not predicted")
	}
	timeless := func(node diagnosticsv1alpha1.CopiesOutlookNode) bool {
		return node.Lasting == nil || node.WithinSeconds == 0
	}
	if slices.ContainsFunc(forecast.Outlook.Nodes, timeless) {
		forecast.Notes = append(forecast.Notes, "until when is predicted where extensions.predictor of colocation-config chooses a predictor: for the next hour by that for batch, for a day by that for mid, and hour by hour by seasonal")
	}
}

// takenByWaiting are the requests of the waiting pods that get each node before the copies.
func takenByWaiting(in *PlacementSnapshot, forecast *diagnosticsv1alpha1.PlacementForecast) map[string]map[string]int64 {
	if len(forecast.Waiting) == 0 {
		return nil
	}
	pods := make(map[string]*corev1.Pod, len(in.Pods))
	for i := range in.Pods {
		pods[in.Pods[i].Namespace+"/"+in.Pods[i].Name] = &in.Pods[i]
	}
	sums := map[string]map[string]int64{}
	for i := range forecast.Waiting {
		placed := &forecast.Waiting[i]
		pod := pods[placed.Namespace+"/"+placed.Name]
		if placed.Node == "" || pod == nil {
			continue
		}
		if sums[placed.Node] == nil {
			sums[placed.Node] = map[string]int64{}
		}
		for name, value := range byName(requestsOf(pod)) {
			sums[placed.Node][name] += value
		}
	}
	return sums
}

// byName is a list of amounts by the names of the resources as text.
func byName(amounts map[corev1.ResourceName]int64) map[string]int64 {
	out := make(map[string]int64, len(amounts))
	for name, value := range amounts {
		out[string(name)] = value
	}
	return out
}

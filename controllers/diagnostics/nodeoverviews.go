package diagnostics

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// nodeOverviews lists nodes as co-location sees them: what is used of them, requested by band and offered.
type nodeOverviews struct {
	overviewer NodeOverviewer
	authorizer authorizer.Authorizer
}

// summed are the lists that an overview adds up. Who may not read one of them may not read their sums.
var summed = []subject{
	{resource: corev1.SchemeGroupVersion.WithResource("nodes")},
	{resource: corev1.SchemeGroupVersion.WithResource("pods")},
	{resource: slov1alpha1.GroupVersion.WithResource("nodemetrics")},
}

// New returns an empty overview.
func (*nodeOverviews) New() runtime.Object { return &diagnosticsv1alpha1.NodeOverview{} }

// NewList returns an empty list.
func (*nodeOverviews) NewList() runtime.Object { return &diagnosticsv1alpha1.NodeOverviewList{} }

// Destroy does nothing: there is no storage.
func (*nodeOverviews) Destroy() {}

// NamespaceScoped is false: nodes have no namespace.
func (*nodeOverviews) NamespaceScoped() bool { return false }

// GetSingularName is the resource's name for one object.
func (*nodeOverviews) GetSingularName() string { return "nodeoverview" }

// Get returns the overview of one node.
func (n *nodeOverviews) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	list, err := n.read(ctx, name, labels.Everything())
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, apierrors.NewNotFound(corev1.Resource("nodes"), name)
	}
	return &list.Items[0], nil
}

// List returns all nodes that a selector of labels matches, in one piece; of fields it knows metadata.name.
func (n *nodeOverviews) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	matching, name := labels.Everything(), ""
	if options != nil && options.LabelSelector != nil {
		matching = options.LabelSelector
	}
	if options != nil && options.FieldSelector != nil && !options.FieldSelector.Empty() {
		exact, found := options.FieldSelector.RequiresExactMatch("metadata.name")
		if !found || len(options.FieldSelector.Requirements()) > 1 {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("field selector %q: only metadata.name=NAME is supported", options.FieldSelector))
		}
		name = exact
	}
	list, err := n.read(ctx, name, matching)
	gone := name != "" && apierrors.IsNotFound(err)
	if err != nil && !gone {
		return nil, err
	}
	if gone || name != "" && !matching.Matches(labels.Set(list.Items[0].Labels)) {
		return &diagnosticsv1alpha1.NodeOverviewList{Items: []diagnosticsv1alpha1.NodeOverview{}}, nil
	}
	for i := range list.Items {
		list.Items[i].TypeMeta = metav1.TypeMeta{} // which the list has, as everywhere in Kubernetes
	}
	return list, nil
}

// read returns overviews to a caller that may list what they are made of.
func (n *nodeOverviews) read(ctx context.Context, name string, matching labels.Selector) (*diagnosticsv1alpha1.NodeOverviewList, error) {
	if err := requireAll(ctx, n.authorizer, "list", summed); err != nil {
		return nil, err
	}
	list, err := n.overviewer.NodeOverviews(ctx, name, matching)
	if apierrors.IsNotFound(err) {
		return nil, apierrors.NewNotFound(corev1.Resource("nodes"), name)
	}
	if err != nil {
		return nil, statusOf(err)
	}
	return list, nil
}

// ConvertToTable renders each node as a row.
func (*nodeOverviews) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	var items []diagnosticsv1alpha1.NodeOverview
	switch overviews := object.(type) {
	case *diagnosticsv1alpha1.NodeOverview:
		items = []diagnosticsv1alpha1.NodeOverview{*overviews}
	case *diagnosticsv1alpha1.NodeOverviewList:
		items = overviews.Items
	default:
		return nil, fmt.Errorf("not a NodeOverview: %T", object)
	}
	rows := make([]metav1.TableRow, 0, len(items))
	for i := range items {
		rows = append(rows, overviewRow(&items[i]))
	}
	return answerTable(options, overviewColumns(), rows...), nil
}

func overviewColumns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "The node."},
		{Name: "Load", Type: "string", Description: "How load-aware scheduling judges the node: Normal, Hot, Expired or Unknown."},
		{Name: "CPU", Type: "string", Description: "CPU used, of what can be used."},
		{Name: "Batch-CPU", Type: "string", Description: "CPU that batch pods request, of what is offered to them."},
		{Name: "Memory", Type: "string", Description: "Memory used, of what can be used."},
		{Name: "Batch-Memory", Type: "string", Description: "Memory that batch pods request, of what is offered to them."},
		{Name: "Metric", Type: "string", Description: "State of the NodeMetric of the node: fresh, stale or expired."},
		{Name: "Message", Type: "string", Priority: 1, Description: "Why the load is judged so."},
	}
}

func overviewRow(n *diagnosticsv1alpha1.NodeOverview) metav1.TableRow {
	cpu := func(used, of *int64) string { return share(used, of, diagnosticsv1alpha1.MilliCPU) }
	memory := func(used, of *int64) string { return share(used, of, diagnosticsv1alpha1.Bytes) }
	return answerRow(n, n.Name, string(n.Load.State),
		cpu(n.CPU.Used, usable(&n.CPU)), cpu(n.CPU.BatchRequested, n.CPU.BatchAllocatable),
		memory(n.Memory.Used, usable(&n.Memory)), memory(n.Memory.BatchRequested, n.Memory.BatchAllocatable),
		string(n.Metric.State), n.Load.Message)
}

// usable is what of a resource can be used, before amplification.
func usable(r *diagnosticsv1alpha1.ResourceOverview) *int64 {
	if r.RawAllocatable != nil {
		return r.RawAllocatable
	}
	return &r.Allocatable
}

// share is a part of a whole; what is not known is a question mark.
func share(part, whole *int64, unit diagnosticsv1alpha1.Unit) string {
	texts := [2]string{"?", "?"}
	for i, value := range []*int64{part, whole} {
		if value != nil {
			texts[i] = quantity(*value, unit)
		}
	}
	return texts[0] + "/" + texts[1]
}

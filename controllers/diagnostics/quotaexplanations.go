package diagnostics

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// quotaExplanations explains ElasticQuotas, as koord-scheduler does.
type quotaExplanations struct {
	explainer  QuotaExplainer
	authorizer authorizer.Authorizer
}

// divided are the lists that an explanation is made of: it names other quotas and pods, and what all nodes have.
var divided = []subject{
	{resource: schedulingsigsv1alpha1.GroupVersion.WithResource("elasticquotas")},
	{resource: corev1.SchemeGroupVersion.WithResource("pods")},
	{resource: corev1.SchemeGroupVersion.WithResource("nodes")},
}

// New returns an empty explanation.
func (*quotaExplanations) New() runtime.Object { return &diagnosticsv1alpha1.QuotaExplanation{} }

// Destroy does nothing: there is no storage.
func (*quotaExplanations) Destroy() {}

// NamespaceScoped is true: an explanation lives in the namespace of its quota.
func (*quotaExplanations) NamespaceScoped() bool { return true }

// GetSingularName is the resource's name for one object.
func (*quotaExplanations) GetSingularName() string { return "quotaexplanation" }

// Get explains a quota to a caller that may list all that the explanation is made of.
func (q *quotaExplanations) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	for _, about := range divided {
		if err := require(ctx, q.authorizer, "list", about); err != nil {
			return nil, err
		}
	}
	answer, err := q.explainer.ExplainQuota(ctx, request.NamespaceValue(ctx), name)
	if err != nil {
		return nil, statusOf(err)
	}
	return answer, nil
}

// ConvertToTable renders the explanation as a row for each resource.
func (*quotaExplanations) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	answer, ok := object.(*diagnosticsv1alpha1.QuotaExplanation)
	if !ok {
		return nil, fmt.Errorf("not a QuotaExplanation: %T", object)
	}
	columns := []metav1.TableColumnDefinition{
		nameColumn(),
		{Name: "State", Type: "string", Description: "State of the quota."},
		{Name: "Resource", Type: "string", Description: "The resource that is divided."},
		{Name: "Used", Type: "string", Description: "What pods with a node request."},
		{Name: "Runtime", Type: "string", Description: "What the quota may use now."},
		{Name: "Max", Type: "string", Description: "The most that the runtime grows to."},
		{Name: "Available", Type: "string", Description: "What another pod may still request."},
		{Name: "Reason", Type: "string", Priority: 1, Description: "Why the quota is in its state."},
	}
	rows := make([]metav1.TableRow, 0, len(answer.Divisions))
	for i := range answer.Divisions {
		d := &answer.Divisions[i]
		most := "<none>"
		if d.Max != nil {
			most = quantity(*d.Max, d.Unit)
		}
		rows = append(rows, answerRow(answer, answer.Name, string(answer.State), d.Resource, quantity(d.Used, d.Unit), quantity(d.Runtime, d.Unit), most,
			quantity(d.Available, d.Unit), answer.Reason))
	}
	if len(rows) == 0 {
		rows = append(rows, answerRow(answer, answer.Name, string(answer.State), "<none>", "?", "?", "?", "?", answer.Reason))
	}
	return answerTable(options, columns, rows...), nil
}

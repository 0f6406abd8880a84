package diagnostics

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/grants"
)

// batchParallelism is how many nodes of a batch are explained at the same time. Most of the time goes into waiting for their agents.
const batchParallelism = 64

// nodeExplanationBatches answers a question about many nodes, as nodeExplanations does about each. One request saves what a request
// costs the API server, the check of access to each node among it.
type nodeExplanationBatches struct {
	nodes *nodeExplanations
}

// New returns an empty question.
func (*nodeExplanationBatches) New() runtime.Object {
	return &diagnosticsv1alpha1.NodeExplanationBatch{}
}

// Destroy does nothing: there is no storage.
func (*nodeExplanationBatches) Destroy() {}

// NamespaceScoped is false: nodes have no namespace.
func (*nodeExplanationBatches) NamespaceScoped() bool { return false }

// GetSingularName is the resource's name for one object.
func (*nodeExplanationBatches) GetSingularName() string { return "nodeexplanationbatch" }

// Create answers a question of a caller with permission to get any node.
func (b *nodeExplanationBatches) Create(ctx context.Context, object runtime.Object, check rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	question, ok := object.(*diagnosticsv1alpha1.NodeExplanationBatch)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a NodeExplanationBatch: %T", object))
	}
	nameAfter(question, "")
	question.Status = diagnosticsv1alpha1.NodeExplanationBatchStatus{}
	if errs := validateNodeBatch(question); len(errs) > 0 {
		return nil, apierrors.NewInvalid(batchKind, question.Name, errs)
	}
	if err := admit(ctx, question, check); err != nil {
		return nil, err
	}
	if err := requireGet(ctx, b.nodes.authorizer, subject{resource: corev1.SchemeGroupVersion.WithResource("nodes")}); err != nil {
		return nil, err
	}
	granted, err := grantsOf(ctx, b.nodes.authorizer)
	if err != nil {
		return nil, err
	}
	if question.Status.Nodes, err = b.answers(ctx, &question.Spec, granted); err != nil {
		return nil, statusOf(err)
	}
	return question, checked(granted)
}

// answers explains the nodes that exist, as the caller may see them.
func (b *nodeExplanationBatches) answers(ctx context.Context, spec *diagnosticsv1alpha1.NodeExplanationBatchSpec, granted *grants.Grants) ([]diagnosticsv1alpha1.NodeExplanationStatus, error) {
	answers := make([]*diagnosticsv1alpha1.NodeExplanationStatus, len(spec.NodeNames))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(batchParallelism)
	for i, name := range spec.NodeNames {
		group.Go(func() error {
			about := diagnosticsv1alpha1.NodeExplanationSpec{NodeName: name, Resources: spec.Resources, MaxParts: spec.MaxParts, Agent: spec.Agent, Outlook: spec.Outlook}
			status, err := b.nodes.explain(ctx, about, granted)
			if err == nil {
				answers[i] = &status
			}
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	explained := make([]diagnosticsv1alpha1.NodeExplanationStatus, 0, len(answers))
	for _, answer := range answers {
		if answer != nil {
			explained = append(explained, *answer)
		}
	}
	return explained, nil
}

// ConvertToTable renders each answer as name, age class of the data and summary.
func (*nodeExplanationBatches) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	batch, ok := object.(*diagnosticsv1alpha1.NodeExplanationBatch)
	if !ok {
		return nil, fmt.Errorf("not a NodeExplanationBatch: %T", object)
	}
	rows := make([]metav1.TableRow, 0, len(batch.Status.Nodes))
	for _, status := range batch.Status.Nodes {
		name := status.Node.Name
		rows = append(rows, nodeRow(&diagnosticsv1alpha1.NodeExplanation{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: diagnosticsv1alpha1.NodeExplanationSpec{NodeName: name}, Status: status,
		}))
	}
	return answerTable(options, nodeColumns(), rows...), nil
}

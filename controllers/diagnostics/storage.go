package diagnostics

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// The capabilities of the resources: creation and its rendering as a table, nothing else.
type creation interface {
	rest.Storage
	rest.Scoper
	rest.SingularNameProvider
	rest.Creater
	rest.TableConvertor
}

// The capabilities of what is read, an object at a time, and its rendering as a table.
type getting interface {
	rest.Storage
	rest.Scoper
	rest.SingularNameProvider
	rest.Getter
	rest.TableConvertor
}

var (
	_ getting  = (*nodeOverviews)(nil)
	_ getting  = (*quotaExplanations)(nil)
	_ creation = (*podExplanations)(nil)
	_ creation = (*nodeExplanations)(nil)
	_ creation = (*nodeExplanationBatches)(nil)
	_ creation = (*placementReviews)(nil)
)

// nameAfter gives an unnamed question the name of its subject, so that audit events and `kubectl create` say what was asked,
// and drops the bookkeeping that only stored objects need.
func nameAfter(question metav1.Object, subject string) {
	if question.GetName() == "" {
		question.SetName(subject)
	}
	question.SetGenerateName("")
	question.SetManagedFields(nil)
}

// admit runs the admission checks of the server, if it has any.
func admit(ctx context.Context, object runtime.Object, check rest.ValidateObjectFunc) error {
	if check == nil {
		return nil
	}
	return check(ctx, object)
}

// statusOf finds the status inside a wrapped error, which the API server's own error handling does not look for and would
// answer 500.
func statusOf(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return &apierrors.StatusError{ErrStatus: status.Status()}
	}
	return err
}

// answerTable renders answers as a row each.
func answerTable(options runtime.Object, columns []metav1.TableColumnDefinition, rows ...metav1.TableRow) *metav1.Table {
	table := &metav1.Table{Rows: rows}
	if chosen, ok := options.(*metav1.TableOptions); !ok || !chosen.NoHeaders {
		table.ColumnDefinitions = columns
	}
	return table
}

func answerRow(object runtime.Object, cells ...any) metav1.TableRow {
	return metav1.TableRow{Cells: cells, Object: runtime.RawExtension{Object: object}}
}

// quantity formats an amount of a unit as kubectl top does.
func quantity(value int64, unit diagnosticsv1alpha1.Unit) string {
	switch unit {
	case diagnosticsv1alpha1.MilliCPU:
		return fmt.Sprintf("%dm", value)
	case diagnosticsv1alpha1.Bytes:
		return fmt.Sprintf("%dMi", value>>20)
	}
	return fmt.Sprint(value)
}

func nameColumn() metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name", Description: "The object that is explained."}
}

func summaryColumn() metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: "Summary", Type: "string", Description: "The summary of the explanation."}
}

// Kinds as errors name them.
var (
	podKind      = diagnosticsv1alpha1.GroupVersion.WithKind("PodExplanation").GroupKind()
	nodeKind     = diagnosticsv1alpha1.GroupVersion.WithKind("NodeExplanation").GroupKind()
	batchKind    = diagnosticsv1alpha1.GroupVersion.WithKind("NodeExplanationBatch").GroupKind()
	overviewKind = diagnosticsv1alpha1.GroupVersion.WithKind("NodeOverview").GroupKind()
	quotaKind    = diagnosticsv1alpha1.GroupVersion.WithKind("QuotaExplanation").GroupKind()
	reviewKind   = diagnosticsv1alpha1.GroupVersion.WithKind("PlacementReview").GroupKind()
)

// Package reviewhttp serves a review kind on the port of a component: the request is JSON in a POST, and the response, or the
// metav1.Status of an error, is JSON.
package reviewhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

// MaxBody is the maximum size of a request, in bytes, where its kind has no other.
const MaxBody = 64 << 10

// CheckMethod returns an error for a request that is not a POST, and sets the Allow header.
func CheckMethod(w http.ResponseWriter, r *http.Request, resource schema.GroupResource) error {
	if r.Method == http.MethodPost {
		return nil
	}
	w.Header().Set("Allow", http.MethodPost)
	return apierrors.NewMethodNotSupported(resource, r.Method)
}

// Decode decodes a request of at most MaxBody bytes. The content type, if set, must be application/json.
func Decode(w http.ResponseWriter, r *http.Request, resource schema.GroupResource, question any) error {
	return DecodeUpTo(w, r, resource, MaxBody, question)
}

// DecodeUpTo decodes a request of at most maxBody bytes.
func DecodeUpTo(w http.ResponseWriter, r *http.Request, resource schema.GroupResource, maxBody int64, question any) error {
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, r.Method, resource, "", fmt.Sprintf("unsupported content type %q; must be application/json", kind), 0, true)
		}
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(question); err != nil {
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d bytes", maxBody))
		}
		return apierrors.NewBadRequest(fmt.Sprintf("decode the request: %v", err))
	}
	return nil
}

// Fail sends an error as a metav1.Status.
func Fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = apierrors.NewTimeoutError("the explanation timed out: "+err.Error(), 1)
	}
	status := apierrors.NewInternalError(err).Status()
	if known := apierrors.APIStatus(nil); errors.As(err, &known) {
		status = known.Status()
	}
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if details := status.Details; details != nil && details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(details.RetryAfterSeconds))
	}
	Reply(w, r, int(status.Code), &status)
}

// Reply sends an object. Messages for terminals contain > and <, which stay as they are.
func Reply(w http.ResponseWriter, r *http.Request, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		klog.FromContext(r.Context()).V(2).Info("Failed to write a response", "err", err)
	}
}

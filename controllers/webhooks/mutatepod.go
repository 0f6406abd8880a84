package webhooks

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/controllers/webhooks/podpatch"
	"koordinator.sh/koord/decision/admission/colocationprofile"
)

// podMutator applies colocation profiles to pods that are created. It applies all of them to every pod it is asked about:
// a pod that the policy has already changed comes out as it came in.
type podMutator struct {
	reader  client.Reader
	options Options
	decoder admission.Decoder
}

// Handle answers one request.
func (m *podMutator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create || request.SubResource != "" {
		return admission.Allowed("")
	}
	var pod corev1.Pod
	if err := m.decoder.Decode(request, &pod); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode pod: %w", err))
	}
	in, err := m.input(ctx, &pod, request.Namespace)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	logger := klog.FromContext(ctx).V(4)
	var trace *colocationprofile.Trace
	if logger.Enabled() {
		trace = &colocationprofile.Trace{}
	}
	result, err := colocationprofile.Decide(in, trace)
	if err != nil {
		code := colocationprofile.CodeOf(err)
		return refused(code, fmt.Sprintf("%v (%s)", err, code))
	}
	logger.Info("Applied colocation profiles", "namespace", request.Namespace, "pod", pod.Name, "trace", trace)
	return podpatch.Between(&pod, result)
}

func (m *podMutator) input(ctx context.Context, pod *corev1.Pod, namespace string) (colocationprofile.Input, error) {
	profiles, err := readProfiles(ctx, m.reader)
	if err != nil {
		return colocationprofile.Input{}, err
	}
	classes, err := readClasses(ctx, m.reader)
	if err != nil {
		return colocationprofile.Input{}, err
	}
	labels, err := readNamespaceLabels(ctx, m.reader, m.options.Live, namespace)
	if err != nil {
		return colocationprofile.Input{}, err
	}
	return colocationprofile.Input{
		Pod: pod, Namespace: namespace, NamespaceLabels: labels, Profiles: profiles, PriorityClasses: classes,
		Chance: m.options.Chance, Options: m.options.profileOptions(),
	}, nil
}

// refused denies a request with a text and what helps against the finding.
func refused(code finding.Code, text string) admission.Response {
	return admission.Denied(text + code.Remedy())
}

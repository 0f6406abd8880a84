package oomscore

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

func TestOf(t *testing.T) {
	tests := map[string]struct {
		annotations map[string]string
		want        int64
		wantSource  Source
		wantProblem bool
	}{
		"no wish":                                 {nil, 950, FromKubelet, false},
		"for all containers":                      {map[string]string{extension.AnnotationOOMScoreAdj: "-500"}, -500, FromAnnotation, false},
		"for this container before all":           {map[string]string{extension.AnnotationOOMScoreAdj: "-500", extension.AnnotationOOMScoreAdjSpec: `{"main":7}`}, 7, FromAnnotation, false},
		"for another container":                   {map[string]string{extension.AnnotationOOMScoreAdjSpec: `{"side":7}`}, 950, FromKubelet, false},
		"out of range, the kubelet's stays":       {map[string]string{extension.AnnotationOOMScoreAdj: "1001"}, 950, FromKubelet, true},
		"that cannot be read, the kubelet's stay": {map[string]string{extension.AnnotationOOMScoreAdjSpec: `[`}, 950, FromKubelet, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Of(tc.annotations, "main", 950); got.Value != tc.want || got.Source != tc.wantSource || (got.Problem != "") != tc.wantProblem {
				t.Errorf("%+v, want %d from %s", got, tc.want, tc.wantSource)
			}
		})
	}
}

func TestKubelet(t *testing.T) {
	const gib = int64(1) << 30
	tests := map[string]struct {
		class         corev1.PodQOSClass
		priorityClass string
		request, node int64
		want          int64
	}{
		"guaranteed":                         {corev1.PodQOSGuaranteed, "", gib, 10 * gib, -997},
		"best effort":                        {corev1.PodQOSBestEffort, "", 0, 10 * gib, 1000},
		"critical for the node":              {corev1.PodQOSBestEffort, "system-node-critical", 0, 10 * gib, -997},
		"a tenth of the node":                {corev1.PodQOSBurstable, "", gib, 10 * gib, 900},
		"nearly nothing":                     {corev1.PodQOSBurstable, "", 1, 10 * gib, 999},
		"all of the node":                    {corev1.PodQOSBurstable, "", 10 * gib, 10 * gib, 3},
		"more than the node":                 {corev1.PodQOSBurstable, "", 11 * gib, 10 * gib, 3},
		"a negative request is none":         {corev1.PodQOSBurstable, "", -5, 10 * gib, 999},
		"a node that is not known":           {corev1.PodQOSBurstable, "", gib, 0, 1000},
		"the largest node does not overflow": {corev1.PodQOSBurstable, "", math.MaxInt64 / 2, math.MaxInt64, 501},
	}
	for name, tc := range tests {
		if got := Kubelet(tc.class, tc.priorityClass, tc.request, tc.node); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/koordmanager"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/admission/podvalidation/labelpolicy"
)

// gate takes the admission of koord-manager out of a control plane and puts it back, while koord-manager runs.
type gate struct {
	*controlplane.ControlPlane
	// webhooks are the names of those that are counted.
	webhooks []string
}

// shut deletes everything by which the API server calls koord-manager or applies its policies. Nothing recreates it: the manager only
// fills in configurations that exist.
func (g *gate) shut(ctx context.Context) error {
	registrations, options := g.Client.AdmissionregistrationV1(), metav1.DeleteOptions{}
	for _, err := range []error{
		registrations.MutatingWebhookConfigurations().Delete(ctx, koordmanager.ConfigurationName, options),
		registrations.ValidatingWebhookConfigurations().Delete(ctx, koordmanager.ConfigurationName, options),
		registrations.MutatingAdmissionPolicyBindings().Delete(ctx, policy.Name, options),
		registrations.MutatingAdmissionPolicies().Delete(ctx, policy.Name, options),
		registrations.ValidatingAdmissionPolicyBindings().Delete(ctx, labelpolicy.Name, options),
		registrations.ValidatingAdmissionPolicies().Delete(ctx, labelpolicy.Name, options),
	} {
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("take admission out: %w", err)
		}
	}
	return nil
}

// open makes the configurations as the chart makes them; koord-manager does the rest.
func (g *gate) open(ctx context.Context) error {
	registrations, options := g.Client.AdmissionregistrationV1(), metav1.CreateOptions{}
	meta := metav1.ObjectMeta{Name: koordmanager.ConfigurationName}
	_, mutating := registrations.MutatingWebhookConfigurations().Create(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta}, options)
	_, validating := registrations.ValidatingWebhookConfigurations().Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta}, options)
	for _, err := range []error{mutating, validating} {
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("put admission back: %w", err)
		}
	}
	return nil
}

const (
	// probes are requests by which it is found out whether admission is as it should be.
	probes = 5
	// settling bounds how long that may take. A policy takes 5 seconds from its last change on.
	settling = time.Minute
)

// await waits until the API server asks each webhook as often about one request as it should, in all of some probes. A probe
// is such a request, which returns an error when what comes of it is not as it should be.
func (g *gate) await(ctx context.Context, asked map[string]int, probe func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, settling, true, func(ctx context.Context) (bool, error) {
		var counted map[string]answers
		counted, last = g.count(ctx, func() error {
			for range probes {
				if err := probe(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if last == nil {
			last = agree(counted, asked, probes)
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for admission: %w", errors.Join(err, last))
	}
	return nil
}

// count returns how the API server was answered while something was done.
func (g *gate) count(ctx context.Context, work func() error) (map[string]answers, error) {
	before, err := answersOf(ctx, g.ControlPlane, g.webhooks)
	if err != nil {
		return nil, err
	}
	if err := work(); err != nil {
		return nil, err
	}
	now, err := answersOf(ctx, g.ControlPlane, g.webhooks)
	for name := range now {
		now[name] = now[name].minus(before[name])
	}
	return now, err
}

// agree returns an error when a webhook was not asked as often as a number of requests should make the API server ask.
func agree(counted map[string]answers, asked map[string]int, requests int) error {
	for name, got := range counted {
		if want := asked[name] * requests; got.count != float64(want) {
			return fmt.Errorf("%s was asked %.0f times about %d requests, want %d", name, got.count, requests, want)
		}
	}
	return nil
}

// addAnswers adds up the answers of turns.
func addAnswers(into, more map[string]answers) {
	for name := range more {
		into[name] = into[name].plus(more[name])
	}
}

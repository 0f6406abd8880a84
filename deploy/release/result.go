package release

import (
	"time"

	release "helm.sh/helm/v4/pkg/release/v1"
)

// Action is what happened, or would happen, to an object.
type Action string

const (
	// Created objects did not exist.
	Created Action = "created"
	// Configured objects existed and differ.
	Configured Action = "configured"
	// Unchanged objects are as they should be.
	Unchanged Action = "unchanged"
	// Deleted objects are no longer part of the release.
	Deleted Action = "deleted"
	// Kept objects belong to somebody else, or outlive the release on purpose, and were left as they are.
	Kept Action = "kept"
)

// Change is what happened, or would happen, to one object.
type Change struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	Action     Action `json:"action"`
	// Note says why, where the action does not.
	Note string `json:"note,omitempty"`
}

// Release is one revision of an installation.
type Release struct {
	Name         string    `json:"name"`
	Namespace    string    `json:"namespace"`
	Revision     int       `json:"revision"`
	Status       string    `json:"status"`
	ChartVersion string    `json:"chartVersion"`
	AppVersion   string    `json:"appVersion"`
	Updated      time.Time `json:"updated"`
	Description  string    `json:"description,omitempty"`
	// Values set by the user, over the chart's own.
	Values map[string]any `json:"values,omitempty"`
	// Manifest of the revision, in YAML.
	Manifest string `json:"-"`
}

// Result is what an operation did or, in a dry run, would do.
type Result struct {
	Release Release  `json:"release"`
	Changes []Change `json:"changes,omitempty"`
	// Upgrade is true when an earlier revision existed.
	Upgrade bool `json:"upgrade"`
	DryRun  bool `json:"dryRun"`
}

func fromHelm(r *release.Release) Release {
	result := Release{Name: r.Name, Namespace: r.Namespace, Revision: r.Version, Values: r.Config, Manifest: r.Manifest}
	if r.Info != nil {
		result.Status = r.Info.Status.String()
		result.Updated = r.Info.LastDeployed
		result.Description = r.Info.Description
	}
	if r.Chart != nil && r.Chart.Metadata != nil {
		result.ChartVersion, result.AppVersion = r.Chart.Metadata.Version, r.Chart.Metadata.AppVersion
	}
	return result
}

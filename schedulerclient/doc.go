// Package schedulerclient asks koord-scheduler's diagnostics port: koord-manager answers PodExplanations and PlacementReviews by it.
package schedulerclient

// Package queryhint decides which nodes the scheduling hint of a query engine's pod prefers: workers are spread over nodes whose memory is not
// hot and not predicted to become so, and caches are put beside the workers that they serve.
package queryhint

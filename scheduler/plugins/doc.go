// Package plugins lists the plugins of koord-scheduler, one line each. Everything else about a plugin is declared in its own
// folder, as a part.Part.
package plugins

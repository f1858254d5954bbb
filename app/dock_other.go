//go:build !darwin

package main

// showInDock does nothing: only macOS has a Dock.
func showInDock(bool) {}

// onReopen does nothing: elsewhere a second start reaches the first copy through package instance.
func onReopen(func()) {}

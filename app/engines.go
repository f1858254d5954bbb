package main

import (
	"context"

	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/models"
)

func openServer(string) (worker.Model, error) {
	return nil, &engine.Error{Reason: engine.NoModel, Message: "this build cannot ask other servers"}
}

func (l *library) folder(key string) (*models.Folder, error) { return models.Open(key) }

func etudeInfo() engine.ModelInfo { return engine.ModelInfo{Name: "etude", Practice: true} }

func folderInfo(f *models.Folder, path string) engine.ModelInfo {
	return engine.ModelInfo{Name: f.Name, Path: path, Layout: f.Layout, DiskBytes: f.DiskBytes, Vision: f.Vision()}
}

func openFolder(context.Context, *models.Folder, howToRun, func(done, total int64)) (worker.Model, error) {
	return nil, &engine.Error{Reason: engine.BadModel, Message: "this build cannot run models"}
}

func (c *common) encoding(context.Context, *engine.Request) (*engine.Encoding, error) {
	return nil, &engine.Error{Reason: engine.BadModel, Message: "this build cannot encode"}
}

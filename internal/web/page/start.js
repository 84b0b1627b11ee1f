// The first view.
learn();
readAddress();
show().then(() => {
  showAbout();
  performance.mark('whatif-first-view');
  if (index.live) setTimeout(follow, 1000);
});

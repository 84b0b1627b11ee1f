// While a run goes on, ask for what is new.
const follow = async () => {
  let answer;
  try { answer = await fetch('latest?version=' + index.version, { cache: 'no-store' }); } catch (e) { $('live').hidden = true; say('whatif has ended: this is the last that was seen'); return; }
  if (answer.status === 200) {
    // All that belongs together is exchanged at once.
    let fresh, its = null, place = 0;
    try {
      fresh = await answer.json();
      place = Math.max(0, fresh.views.findIndex(v => v.id === state.view));
      if (fresh.views.length) its = await (await fetch(fresh.version + '/rows-' + place, { cache: 'no-store' })).json();
    } catch (e) { setTimeout(follow, 1500); return; }
    for (const e of document.querySelectorAll('script[id^="data-"]')) e.remove(); // of the version before
    cache.clear();
    index = fresh;
    rows = its;
    rowsOf = place;
    learn();
    await show();
    showAbout();
  }
  if (index.live) setTimeout(follow, 1500);
};
